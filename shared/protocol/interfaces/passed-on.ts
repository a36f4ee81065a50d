import type { PassedOn } from './client-interface.ts';

export const passesAnything = (passedOn: PassedOn | undefined): boolean =>
  passedOn !== undefined && (passedOn.query !== '' || Object.keys(passedOn.headers).length > 0);
