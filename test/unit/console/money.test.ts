// The console's form of amounts.
import { describe, expect, it } from '#jest';
import { amountText, exactUsd, usd, usdAlike, usdWithDigits } from '../../../functions/operator/page/parts/money.ts';

const amountsAs = (amounts: readonly (string | null)[], isExact = false) => amounts.map(usdAlike(amounts, isExact));

describe('amounts of a column', () => {
  it('have one number of decimals, that of cents if nothing is smaller', () => {
    expect(amountsAs(['24.952', '1000', '5'])).toEqual(['$24.95', '$1,000.00', '$5.00']);
    expect(amountsAs(['0', '12.5'])).toEqual(['$0.00', '$12.50']);
    expect(amountsAs(['-2.5', '0.5'])).toEqual(['−$2.50', '$0.50']);
    expect(amountsAs([])).toEqual([]);
  });

  it('have the decimals of the smallest, at most four beside larger ones', () => {
    expect(amountsAs(['24.952', '0.0123'])).toEqual(['$24.952', '$0.012']);
    expect(amountsAs(['24.952', '0.00123'])).toEqual(['$24.9520', '$0.0012']);
    expect(amountsAs(['24.952', '0.0000042', '-0.0000042'])).toEqual(['$24.9520', '<$0.0001', '<−$0.0001']);
  });

  it('have three digits of the largest if all are tiny, and none that no amount has', () => {
    expect(amountsAs(['0.00013', '0.0000042'])).toEqual(['$0.000130', '$0.000004']);
    expect(amountsAs(['0.005'])).toEqual(['$0.005']);
  });

  it('have all their decimals if they are prices or limits', () => {
    expect(amountsAs(['0.0375', '75', null], true)).toEqual(['$0.0375', '$75.0000', '–']);
    expect(exactUsd('0.075')).toBe('$0.075');
  });
});

describe('a single amount', () => {
  it('has cents, more if it is smaller, and its exact digits behind it if it has more', () => {
    expect(['24.952', '0.05', '0.0000042', '0'].map(usd)).toEqual(['$24.95', '$0.05', '$0.0000042', '$0.00']);
    expect(usd(null)).toBe('–');
    expect(usdWithDigits('24.952')).toBe('$24.95 (24.952 USD)');
    expect(usdWithDigits('24.50')).toBe('$24.50');
  });

  it('is the same if it was calculated', () => {
    expect([0.1 + 0.2, 1e-7, 5, 0].map(amountText)).toEqual(['0.3', '0.0000001', '5', '0']);
  });
});
