// What DynamoDB makes of the SET and REMOVE clauses that the rules write. Conditions are not looked at.
import type { Item, Update } from '../../../shared/storage/store/index.ts';

export function applyUpdate(item: Item, { expression, names = {}, values = {} }: Update): Item {
  const next = { ...item };
  const [, set = ''] = /SET (.*?)(?= REMOVE| ADD| DELETE|$)/.exec(expression) ?? [];
  for (const [, target = '', zero, added, assigned] of set.matchAll(
    /(#n\d+) = (?:if_not_exists\(#n\d+, (:v\d+)\) \+ (:v\d+)|(:v\d+))/g,
  )) {
    const name = names[target] ?? '';
    if (zero === undefined || added === undefined) next[name] = values[assigned ?? ''];
    else next[name] = BigInt((item[name] ?? values[zero]) as bigint) + BigInt(values[added] as bigint);
  }
  const [, remove = ''] = /REMOVE (.*?)(?= ADD| DELETE|$)/.exec(expression) ?? [];
  for (const placeholder of remove.split(', ')) delete next[names[placeholder] ?? ''];
  return next;
}
