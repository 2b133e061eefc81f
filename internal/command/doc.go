// Package command contains the packages that only the program holdfast uses.
//
//	cli           the subcommands, their flags, texts and exit codes
//	childprocess  runs a command that must not outlive its lock
//	demo          the demonstration with processes that really die
//	parentdeath   starts processes that die with their parent; tests use it too
//	quantile      percentiles of measured times; tests use it too
package command
