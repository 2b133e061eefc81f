// Package scripts checks the Lua scripts that nodes run. A script consists of a main file and parts, which replace
// placeholders such as @HANDOFF@. A part uses variables of its host, so its header says which ones it reads and which
// ones it sets. The tests compare the headers with the code, and find each variable that a whole script does not
// declare.
package scripts
