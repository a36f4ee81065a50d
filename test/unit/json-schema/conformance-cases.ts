// One case for each keyword of a draft, because a keyword that is missing in our table would have no effect, and cases
// in which the schema that we pass to the validator could differ in meaning: references, identifiers, names like
// __proto__, the words of draft 4. The validator has its own tests of its exactness. Each case is [what holds, schema,
// values that satisfy it, values that do not], all as JSON text.
export type ConformanceCase = readonly [
  rule: string,
  schema: string,
  valid: readonly string[],
  invalid: readonly string[],
];

const refHidesSiblings: ConformanceCase = [
  '$ref hides its siblings',
  '{"definitions":{"r":{"type":"array"}},"properties":{"foo":{"$ref":"#/definitions/r","maxItems":2}}}',
  ['{"foo":[1,2,3]}'],
  ['{"foo":"s"}'],
];
const refBesideSiblings: ConformanceCase = [
  '$ref and what stands beside it both hold',
  '{"$defs":{"r":{"type":"array"}},"properties":{"foo":{"$ref":"#/$defs/r","maxItems":2}}}',
  ['{"foo":[]}'],
  ['{"foo":[1,2,3]}', '{"foo":"s"}'],
];
const tuple: ConformanceCase = [
  'a list of items with additionalItems: false is a tuple',
  '{"items":[{"type":"integer"}],"additionalItems":false}',
  ['[1]'],
  ['[1,2]'],
];
const anchor: ConformanceCase = ['$anchor', '{"$ref":"#a","$defs":{"x":{"$anchor":"a","const":1}}}', ['1'], ['2']];
const dependentRequired: ConformanceCase = [
  'dependentRequired',
  '{"dependentRequired":{"a":["b"]}}',
  ['{"a":1,"b":1}'],
  ['{"a":1}'],
];

export const inBothDrafts: readonly ConformanceCase[] = [
  ['const', '{"const":{"a":1,"b":2}}', ['{"b":2,"a":1}'], ['{"a":1}']],
  ['enum', '{"enum":[6,[],{"a":12}]}', ['[]', '{"a":12}'], ['{"a":12,"b":1}', 'null']],
  ['type', '{"type":"integer"}', ['1.0', '1e+300'], ['1.5', '"1"']],
  ['multipleOf', '{"multipleOf":0.01}', ['19.99'], ['0.0075']],
  ['minLength', '{"minLength":2}', ['"ab"'], ['"💩"']],
  ['maxLength', '{"maxLength":2}', ['"💩💩"', '100'], ['"abc"']],
  ['pattern', '{"pattern":"^\\\\p{Letter}+$"}', ['"é"'], ['"1"']],
  [
    'properties',
    '{"properties":{"constructor":{"type":"number"},"toString":false}}',
    ['[]', '{}'],
    ['{"constructor":""}'],
  ],
  ['a property called __proto__', '{"properties":{"__proto__":{"type":"number"}}}', ['{}'], ['{"__proto__":"foo"}']],
  ['required', '{"required":["__proto__","toString"]}', ['{"__proto__":1,"toString":1}', '[]'], ['{}']],
  [
    'additionalProperties beside properties and patternProperties',
    '{"properties":{"a":{}},"patternProperties":{"^v":{}},"additionalProperties":false}',
    ['{"a":1,"vroom":2}', '"x"'],
    ['{"a":1,"q":2}'],
  ],
  ['patternProperties', '{"patternProperties":{"a*":{"type":"integer"}}}', ['{"a":21}'], ['{"aaa":"x"}']],
  ['propertyNames', '{"propertyNames":{"maxLength":3}}', ['{"a":1,"foo":2}', '{}'], ['{"foobar":1}']],
  ['contains', '{"contains":{"minimum":5}}', ['[3,4,5]', '{}'], ['[2,3]', '[]']],
  ['uniqueItems', '{"uniqueItems":true}', ['[0,false]', '[[1],[true]]'], ['[1,1]', '[{"a":1,"b":2},{"b":2,"a":1}]']],
  [
    'if, then and else',
    '{"if":{"maximum":0},"then":{"minimum":-9},"else":{"multipleOf":2}}',
    ['-1', '4'],
    ['-99', '3'],
  ],
  ['not', '{"not":{"type":["integer","boolean"]}}', ['"a"'], ['1']],
  ['oneOf', '{"oneOf":[{"type":"integer"},{"minimum":2}]}', ['1', '2.5'], ['3', '1.5']],
  ['anyOf', '{"type":"string","anyOf":[{"maxLength":2},{"minLength":4}]}', ['"foobar"'], ['3', '"foo"']],
  ['allOf', '{"allOf":[{"minimum":2},{"maximum":3}]}', ['2'], ['1', '4']],
  ['minProperties', '{"minProperties":1}', ['{"a":1}', '[]'], ['{}']],
  ['maxProperties', '{"maxProperties":1}', ['{"a":1}', '[1,2]'], ['{"a":1,"b":1}']],
  ['minItems and maxItems', '{"minItems":1,"maxItems":2}', ['[1]', '""'], ['[]', '[1,2,3]']],
  ['exclusiveMinimum and exclusiveMaximum', '{"exclusiveMinimum":1.1,"exclusiveMaximum":3}', ['2'], ['1.1', '3']],
  ['items', '{"items":{"type":"null"}}', ['[null]'], ['[1]']],
  ['annotations', '{"title":"x","description":"y","default":5,"examples":[1]}', ['1'], []],
  [
    '$ref # recurses',
    '{"properties":{"foo":{"$ref":"#"}},"additionalProperties":false}',
    ['{"foo":{"foo":false}}'],
    ['{"foo":{"bar":false}}', '{"bar":1}'],
  ],
  [
    '$ref unescapes JSON pointers',
    '{"definitions":{"a~b":{"const":1},"a/b":{"const":1},"a%b":{"const":1}},"properties":{"t":{"$ref":"#/definitions/a~0b"},"s":{"$ref":"#/definitions/a~1b"},"p":{"$ref":"#/definitions/a%25b"}}}',
    ['{"s":1,"t":1,"p":1}'],
    ['{"s":"a"}', '{"t":"a"}', '{"p":"a"}'],
  ],
];

export const inDraft4: readonly ConformanceCase[] = [
  ['exclusiveMinimum makes minimum exclusive', '{"minimum":3,"exclusiveMinimum":true}', ['3.1'], ['3', '2']],
  ['exclusiveMinimum: false changes nothing', '{"minimum":3,"exclusiveMinimum":false}', ['3'], ['2']],
  ['exclusiveMaximum makes maximum exclusive', '{"maximum":3,"exclusiveMaximum":true}', ['2.9'], ['3', '4']],
  ['exclusiveMinimum alone means nothing', '{"exclusiveMinimum":true}', ['-5', '"a"'], []],
  ['additionalProperties may be a boolean', '{"additionalProperties":false}', ['{}'], ['{"b":1}']],
  [
    '$ref resolves against the nearest id',
    '{"id":"https://a.example/tree","properties":{"next":{"$ref":"node"}},"definitions":{"node":{"id":"https://a.example/node","type":"integer"}}}',
    ['{"next":1}'],
    ['{"next":"a"}'],
  ],
  refHidesSiblings,
];

export const inDraft7: readonly ConformanceCase[] = [
  tuple,
  ['additionalItems means nothing beside one schema for items', '{"items":{},"additionalItems":false}', ['[1,2]'], []],
  [
    'dependencies are names or a schema',
    '{"dependencies":{"bar":["foo"],"x":{"properties":{"y":{"type":"integer"}}}}}',
    ['{"bar":1,"foo":2}', '{"x":1,"y":1}'],
    ['{"bar":1}', '{"x":1,"y":"s"}'],
  ],
  refHidesSiblings,
  [
    '$ref resolves against the nearest $id',
    '{"$id":"https://a.example/tree","items":{"$ref":"node"},"definitions":{"node":{"$id":"https://a.example/node","properties":{"up":{"$ref":"tree"}},"required":["up"]}}}',
    ['[{"up":[]}]'],
    ['[{"up":[{}]}]'],
  ],
  ['$id: #name', '{"allOf":[{"$ref":"#foo"}],"definitions":{"A":{"$id":"#foo","const":1}}}', ['1'], ['"a"']],
];

export const inDraft201909: readonly ConformanceCase[] = [
  tuple,
  refBesideSiblings,
  anchor,
  dependentRequired,
  [
    '$recursiveRef, with an anchor',
    '{"$recursiveAnchor":true,"properties":{"a":{"$recursiveRef":"#"}},"unevaluatedProperties":false}',
    ['{"a":{"a":{}}}'],
    ['{"a":{"b":1}}', '{"b":1}'],
  ],
  [
    '$recursiveRef, without an anchor',
    '{"anyOf":[{"type":"integer"},{"type":"array","items":{"$recursiveRef":"#"}}]}',
    ['1', '[1,[2,[]]]'],
    ['"a"', '[["a"]]'],
  ],
  ['unevaluatedItems', '{"items":[{"type":"string"}],"unevaluatedItems":false}', ['["a"]'], ['["a",1]']],
  ['minContains', '{"contains":{"const":1},"minContains":2,"maxContains":3}', ['[1,1]'], ['[1]', '[1,1,1,1]']],
];

export const inDraft202012: readonly ConformanceCase[] = [
  refBesideSiblings,
  anchor,
  dependentRequired,
  ['minContains: 0', '{"contains":{"const":1},"minContains":0,"maxContains":1}', ['[]', '[1]'], ['[1,1]']],
  ['prefixItems', '{"prefixItems":[{},{}],"items":false}', ['[1,2]', '[1]'], ['[1,2,3]']],
  [
    'dependentSchemas',
    '{"dependentSchemas":{"b":{"required":["a"]},"q":false}}',
    ['{"b":1,"a":1}'],
    ['{"b":1}', '{"q":1}'],
  ],
  [
    'unevaluatedProperties',
    '{"$ref":"#/$defs/a","unevaluatedProperties":false,"$defs":{"a":{"properties":{"a":{}}}}}',
    ['{"a":1}'],
    ['{"c":1}'],
  ],
  ['unevaluatedItems', '{"unevaluatedItems":false}', ['[]'], ['["f"]']],
  [
    '$anchor belongs to its $id',
    '{"$ref":"https://a.example/nested.json#foo","$id":"https://a.example/root","$defs":{"A":{"$id":"nested.json","$defs":{"B":{"$anchor":"foo","const":1}}}}}',
    ['1'],
    ['"a"'],
  ],
  [
    'one anchor name may stand under two $ids',
    '{"$id":"https://a.example/foobar","$defs":{"A":{"$id":"child1","allOf":[{"$id":"child2","$anchor":"my_anchor","type":"number"},{"$anchor":"my_anchor","type":"string"}]}},"$ref":"child1#my_anchor"}',
    ['"a"'],
    ['1'],
  ],
  [
    'an $id inside enum or const is no identifier',
    '{"$defs":{"in_enum":{"enum":[{"$id":"https://a.example/x"}]},"real":{"$id":"https://a.example/x","type":"string"},"in_const":{"const":{"$id":"https://a.example/x"}}},"anyOf":[{"$ref":"#/$defs/in_enum"},{"$ref":"https://a.example/x"}]}',
    ['{"$id":"https://a.example/x"}', '"a string"'],
    ['1'],
  ],
  [
    'an anchor resolves against a URN',
    '{"$id":"urn:uuid:deadbeef-1234-ff00-00ff-4321feebdaed","properties":{"foo":{"$ref":"#something"}},"$defs":{"bar":{"$anchor":"something","type":"string"}}}',
    ['{"foo":"b"}'],
    ['{"foo":1}'],
  ],
  [
    '$dynamicRef',
    '{"$dynamicAnchor":"node","properties":{"data":true,"children":{"items":{"$dynamicRef":"#node"}}},"unevaluatedProperties":false}',
    ['{"children":[{"data":1}]}'],
    ['{"children":[{"daat":1}]}'],
  ],
  [
    '$dynamicRef to a plain anchor',
    '{"items":{"$dynamicRef":"#i"},"$defs":{"a":{"$anchor":"i","const":1}}}',
    ['[1]'],
    ['[42]'],
  ],
  [
    '$ref to a dynamic anchor',
    '{"items":{"$ref":"#i"},"$defs":{"a":{"$dynamicAnchor":"i","const":1}}}',
    ['[1]'],
    ['[42]'],
  ],
];
