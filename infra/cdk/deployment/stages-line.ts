// What plain cdk needs to be told.

export const stagesLine = (names: readonly string[]): string => {
  const [first = 'NAME'] = names;
  return `stages: ${names.join(', ')}. cdk needs one named: npx cdk deploy '${first}/*'; with all checks: npm run deploy -- --stage ${first}\n`;
};
