// Package command contains the packages that only the program holdfast uses.
//
//	cli           the subcommands, their flags, texts and exit codes
//	childprocess  runs a command that must not outlive its lock
//	busy          a busy set of embedded nodes, for people who look at ui and top
//	demo          the demonstration with processes that really die
//	parentdeath   starts processes that die with their parent; tests use it too
//	sample        readings of the locks and nodes, shared among all who watch
//	top           the live view on a terminal
//	ui            the web page and its server
//	quantile      percentiles of measured times; tests use it too
package command
