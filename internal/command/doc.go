// Package command contains what only the program holdfast needs.
//
//	cli           the subcommands, their flags, texts and exit codes
//	childprocess  runs a command that must not outlive its lock
//	demo          the demonstration with processes that really die
package command
