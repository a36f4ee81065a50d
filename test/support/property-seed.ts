// Makes property tests generate the same cases in every run, so that a failed run is a change of the code and not
// chance. GW_TEST_SEED selects others. The report names the error itself, which the runner would omit.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.GW_TEST_SEED ?? 20_261_120), includeErrorInReport: true });
