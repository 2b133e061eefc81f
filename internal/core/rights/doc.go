// Package rights lists the rights that users of a Redis or Valkey server need, by role. The command holdfast acl prints
// them, the doctor looks for them, and the end-to-end tests run under them.
//
//	role.go      the roles
//	commands.go  the commands of each role
//	rule.go      the rule of a user: as arguments of ACL SETUSER, as a line to type, as a line of an ACL file
//
// TestEveryRightIsNeeded (verify/e2e) takes each right away in turn.
package rights
