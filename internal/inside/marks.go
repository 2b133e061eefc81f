package inside

// ElectionMark is the beginning of the values that leaders publish. The list of locks knows an election by it.
const ElectionMark = "holdfast-election 1 "
