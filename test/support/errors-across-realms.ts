// Jest runs a test in a realm of its own, where errors made by Node itself are not `instanceof Error`. The AWS SDK asks
// exactly that and, told no, throws away their code; in production it keeps it. Importing this file makes the realm
// answer as production does.
import { types } from 'node:util';

const ordinary = Function.prototype[Symbol.hasInstance];

Object.defineProperty(Error, Symbol.hasInstance, {
  configurable: true,
  value(this: unknown, value: unknown): boolean {
    return (this === Error && types.isNativeError(value)) || ordinary.call(this as () => void, value);
  },
});
