// The store suites on another implementation of DynamoDB than the embedded one: conditions that only one engine accepts
// would be found on AWS.
import { startEmulator } from './emulator.ts';
import { pythonProgram, runTests, type Step } from './verify-step.ts';

export const ministackRequirement = 'ministack==1.5.33';

/** Left out: it computes with 28 digits, where DynamoDB keeps 38. */
const needMoreDigits = [
  'are exact to 38 digits, also after arithmetic',
  'the books of a counter balance after every write, its limit holds, and every settlement counts once',
];

export const secondEngine: Step = {
  name: 'dynamodb',
  async run() {
    const program = await pythonProgram(ministackRequirement, 'ministack');
    const variablesOf = (port: number) => ({ GATEWAY_PORT: String(port), SERVICES: 'dynamodb', LOG_LEVEL: 'ERROR' });
    const emulator = await startEmulator({ program, variablesOf });
    try {
      const tests = ['test/stores', '--testNamePattern', `^(?!.*(${needMoreDigits.join('|')}))`];
      return `${await runTests(tests, { GW_TEST_DYNAMODB_URL: emulator.url })}: the store suites on a second DynamoDB`;
    } finally {
      await emulator.stop();
    }
  },
};
