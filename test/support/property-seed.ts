// Property tests draw the same cases in every run, so that a red run is a change of the code and not chance. GW_TEST_SEED
// draws others. The report names the error itself, which the runner would leave out.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.GW_TEST_SEED ?? 20_261_120), includeErrorInReport: true });
