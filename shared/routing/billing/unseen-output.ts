// What a model has written before anything of it was seen. A provider that is left tells no count, and charges for its work.

/** A model that does not think begins to answer within it, as a rule. */
const answersWithinMs = 5_000;
/** Models that think unseen write 50 to 150 of them. */
const tokensPerSecond = 50;
const msPerSecond = 1_000;

/** An estimate, on the low side. `silentMs`: from the call of the provider to the first output, or to its end. */
export const unseenOutputTokens = (silentMs: number): number =>
  Math.ceil((Math.max(0, silentMs - answersWithinMs) * tokensPerSecond) / msPerSecond);
