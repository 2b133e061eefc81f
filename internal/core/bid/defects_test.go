package bid

import "testing"

// Each story is a defect of docs/design/defects.md that came from a decision of a bid. Its name gives the number in
// that document and the test in package waiting.
var defects = []struct{ name, story string }{
	{"2, TestGrantsOfAnEarlierStampDoNotCount in package quorum", `
		ask             : queue 012 s1
		ask             : withdraw queue 012 s2
		01#1 granted    :
		0 granted       :
		is              : asking undecided s2 01`},
	{"13, TestWaitersThatGiveUpAsTheirTurnComesLeaveNothing", `
		pass s7         : pass old 012 s1
		0 granted       :
		end             : withdraw release old 012 s7 5.25s abort 012 s1 10.25s
		1 granted       : wake
		2 failed        : abort 2 s1 1m0s wake rest`},
	{"16, TestAQuestionThatComesAfterItsWaitIsOverLeavesNoClaim", `
		begin           : queue 012 s1
		end             : withdraw abort 012 s1 10.25s
		0 held older rank=0 : abort 0 s1 1m0s wake
		1 held older    : wake
		2 unsent        : wake rest`},
	{"17, TestTheNextInLineIsInTheQueueBeforeTheReleaseComes", `
		begin           : queue 012 s1
		first           : withdraw queue 012 s2 keep true
		handed 0        : withdraw queue 0 s3 wake`},
	{"18, TestTheNextQuestionWaitsForTheOneBefore", `
		join            : queue 012 s1
		+1s again 1s    :
		+1s again 1s    :
		012 failed      : wake rest
		next            : unavailable,few 1s
		again 1s        : withdraw queue 012 s2`},
	{"19, TestTheFirstPauseOfAWaiterIsAWholeSecondAndTheSecondARandomPart", `
		join            : queue 012 s1
		012 held older  : wake rest
		next            : held 1s
		again 1s        : withdraw queue 012 s2
		012 held older  : wake rest
		next            : held 1s random
		again 1s        : withdraw queue 012 s3
		012 held older  : wake rest
		next            : held 1s`},
	{"22, TestTheFirstQuestionEndsWhenANodeHandsTheNameOver", `
		begin           : queue 012 s1
		01 held older   : wake
		handed 0        : withdraw queue 0 s2 wake
		is              : asking handing s2`},
	{"25, TestALeaseThatEndsNodeByNodeCostsNoPlaceInLine", `
		join            : queue 012 s1
		0 granted       :
		12 held dead left=200ms : wake rest
		next            : held ~20ms
		+20ms again 1s  : withdraw queue 012 s2
		0 granted       :
		12 held dead left=180ms : wake rest
		next            : held ~204ms part
		is              : s2 0`},
	{"30, the same test, in one run of five", `
		join            : queue 012 s1
		01 granted      : wake
		cut             : won s1 01 8.898s missing`},
	{"34, TestAnOutageLeavesNoPlaceInAQueue", `
		join            : queue 012 s1
		0 held older rank=0 :
		1 failed        : wake
		2 unsent        : rest
		+3s end         : withdraw abort 2 s1 10.25s abort 01 s1 1m3s`},
	{"41, TestNobodyStaysInLineWhateverNodesDo", `
		join            : queue 012 s1
		12 held older rank=0 : wake
		0 held older    : rest
		handed 1        : withdraw queue 1 s2 wake
		handed 0        : queue 0 s2
		01 granted      : wake rest
		next            : quit 2 1m0s won s2 01 8.898s waited`},
	{"41, and an answer that was lost, after the win", `
		join            : queue 012 s1
		01 granted      : wake
		next            : won s1 01 8.898s missing
		2 failed        : quit 2 1m0s wake rest`},
	{"41, and a last question that was not sent", `
		join            : queue 012 s1
		012 held older rank=0 : wake rest
		ask             : withdraw queue 012 s2
		01 granted      : wake
		next            : won s2 01 8.898s missing
		2 unsent        : quit 2 1m0s wake rest`},
	{"42, TestWhoWonOwesNothingToANodeThatWasNotAsked", `
		join            : queue 012 s1
		2 unsent        :
		01 granted      : wake rest
		next            : won s1 01 8.898s`},
	{"43, TestOneOfTwoThatTryAtOnceGetsTheLockWhileANodeHangs", `
		begin           : queue 012 s1
		0 granted       :
		1 held younger  :
		2 unsent        : wake rest
		outcome         : contended`},
	{"46, TestAMinorityIsGivenBackSoonToAnOlderOneWhoCameLater", `
		join            : queue 012 s1
		0 granted       :
		12 held younger : wake rest
		next            : held ~20ms
		+20ms again 1s  : withdraw queue 012 s2
		0 granted       :
		12 held younger : wake rest
		next            : held ~204ms part
		+200ms again 1s : withdraw queue 012 s3
		0 granted       :
		12 held older   : wake rest
		next            : abort 0 s3 10.47s held 1s`},
	{"47, TestTwoThatHaveAPartEachDoNotSwap: only the younger one gives", `
		join            : queue 012 s1
		0 granted       :
		1 held younger  :
		2 failed        : wake rest
		next            : held ~20ms
		+20ms again 1s  : withdraw queue 012 s2
		0 granted       :
		1 held younger  :
		2 failed        : wake rest
		next            : held ~204ms part
		is              : s2 0`},
	{"48, TestWhatWasGivenBackIsNoPart", `
		ask             : queue 012 s1
		12 held older   : wake
		next            : held 1s
		+20ms 0 granted : wake rest
		next            : ~20ms
		+20ms ask       : withdraw queue 012 s2
		12 held older   : wake
		next            : held ~204ms part
		+20ms 0 granted : abort 0 s2 10.29s rest
		is              : s2`},
	{"49, TestAPartWhoseGrantsComeLateIsGivenBack", `
		join            : queue 012 s1
		0 granted       :
		12 held older   : wake rest
		next            : held ~20ms
		+20ms again 1s  : withdraw queue 012 s2
		12 held older   : wake
		+500ms again 1s :
		+500ms again 1s : withdraw queue 012 s3`},
	{"50, TestWhoHasAPartForLongAsksEverySecond", `
		join            : queue 012 s1
		0 granted       :
		12 held younger : wake rest
		next            : held ~20ms
		+4s again 1s    : withdraw queue 012 s2
		0 granted       :
		12 held younger : wake rest
		next            : held ~1s part`},
	{"51, TestTwoWithTheSameTicketDoNotBothKeepAPart: it keeps its part", `
		join            : queue 012 s1
		0 granted       :
		12 held zafter  : wake rest
		next            : held ~20ms
		+20ms again 1s  : withdraw queue 012 s2
		0 granted       :
		12 held zafter  : wake rest
		next            : held ~204ms part`},
	{"51, the same: it gives its part", `
		join            : queue 012 s1
		0 granted       :
		12 held before  : wake rest
		next            : held ~20ms
		+20ms again 1s  : withdraw queue 012 s2
		0 granted       :
		12 held before  : wake rest
		next            : abort 0 s2 10.27s held 1s random`},
	{"82, TestAnotherProcessIsOvertakenByABoundedNumberOfPasses", `
		pass s7         : pass old 012 s1
		012 granted     : wake rest
		next            : won s1 012 8.898s passes=4`},
	{"88, TestAMinorityThatSaysHeldIsNoQuorum", `
		join            : queue 012 s1
		0 held older    :
		1 unsent        : wake
		next            : held,doubt,few 1s
		2 unsent        : wake rest
		next            : unavailable,few 1s random`},
	{"90, TestAWaiterAsksOnceASecondBecauseANodeIsHeardAgain", `
		join            : queue 012 s1
		heard 0         : withdraw queue 012 s2
		+10ms heard 0   :
		heard 1         : withdraw queue 012 s3
		+1s heard 0     : withdraw queue 012 s4`},
	{"105, TestAnAnswerUnderWayIsNoVoteForAnother", `
		begin           : queue 012 s1
		0 held older    :
		1 granted       :
		outcome         : held,doubt`},
	{"107, TestAPartIsGivenBackToAHolderThatWantsItsNode", `
		join            : queue 012 s1
		0 granted       :
		wanted 0 s1     : wake abort 0 s1 10.25s
		next            : contended,few ~300ms
		again 1s        : withdraw queue 012 s2`},
}

// A defect that was mended must not come back.
func TestDefectsOfABid(t *testing.T) {
	for _, d := range defects {
		t.Run(d.name, func(t *testing.T) { tell(t, d.story) })
	}
}
