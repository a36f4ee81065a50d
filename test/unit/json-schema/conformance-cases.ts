// One case for each keyword of a draft, as a keyword that is not in our table would mean nothing, and those in which what
// we hand the validator could say something else than the schema did: references, identifiers, names like __proto__, the
// words of draft 4. The validator's own exactness is tested by itself.
// Each case: [what holds, schema, values that satisfy it, values that do not], all as JSON text.
export type ConformanceCase = readonly [
  rule: string,
  schema: string,
  valid: readonly string[],
  invalid: readonly string[],
];

export const inBothDrafts: readonly ConformanceCase[] = [
  [
    'const compares objects whatever the order of members',
    '{"const":{"foo":"bar","baz":"bax"}}',
    ['{"baz":"bax","foo":"bar"}'],
    ['{"foo":"bar"}', '[1,2]'],
  ],
  [
    'enum holds values of any type',
    '{"enum":[6,"foo",[],true,{"foo":12}]}',
    ['[]', '{"foo":12}'],
    ['{"foo":12,"b":1}', 'null'],
  ],
  ['1.0 is an integer, 1.5 is none', '{"type":"integer"}', ['1.0', '1e+300'], ['1.5', '"1"']],
  ['multipleOf 0.01 is exact', '{"multipleOf":0.01}', ['19.99', '4.02'], ['0.0075', '1.005']],
  ['minLength counts code points', '{"minLength":2}', ['"ab"'], ['"💩"']],
  ['maxLength counts code points and ignores other types', '{"maxLength":2}', ['"💩💩"', '100'], ['"abc"']],
  ['pattern knows Unicode classes', '{"pattern":"^\\\\p{Letter}+$"}', ['"é"'], ['"1"']],
  [
    'properties named like members of every object are only looked up as own',
    '{"properties":{"toString":{"properties":{"length":{"type":"string"}}},"constructor":{"type":"number"}}}',
    ['[]', '12', '{}'],
    ['{"constructor":"x"}'],
  ],
  [
    'a property called __proto__ is a property',
    '{"properties":{"__proto__":{"type":"number"}}}',
    ['{"__proto__":1}', '{}'],
    ['{"__proto__":"foo"}'],
  ],
  [
    'required takes names like __proto__ literally',
    '{"required":["__proto__","toString","constructor"]}',
    ['{"__proto__":1,"toString":1,"constructor":1}', '[]'],
    ['{}'],
  ],
  [
    'additionalProperties: false leaves properties and patternProperties',
    '{"properties":{"a":{}},"patternProperties":{"^v":{}},"additionalProperties":false}',
    ['{"a":1,"vroom":2}', '[1]', '"x"'],
    ['{"a":1,"q":2}'],
  ],
  ['additionalProperties alone covers all', '{"additionalProperties":{"type":"boolean"}}', ['{"a":true}'], ['{"a":1}']],
  [
    'additionalProperties does not look into allOf',
    '{"allOf":[{"properties":{"foo":{}}}],"additionalProperties":{"type":"boolean"}}',
    [],
    ['{"foo":1,"bar":true}'],
  ],
  ['propertyNames checks names', '{"propertyNames":{"maxLength":3}}', ['{"a":1,"foo":2}', '{}'], ['{"foobar":1}']],
  ['contains wants one item', '{"contains":{"minimum":5}}', ['[3,4,5]', '{}'], ['[2,3]', '[]']],
  [
    'uniqueItems compares deeply and by type',
    '{"uniqueItems":true}',
    ['[1,2]', '[0,false]', '[1,true]', '[[1],[true]]', '[{"foo":{"bar":{"baz":true}}},{"foo":{"bar":{"baz":false}}}]'],
    ['[1,1]', '[1,1,1]', '[{"a":1,"b":2},{"b":2,"a":1}]', '["foo","foo"]'],
  ],
  [
    'if decides between then and else',
    '{"if":{"exclusiveMaximum":0},"then":{"minimum":-10},"else":{"multipleOf":2}}',
    ['-1', '4'],
    ['-100', '3'],
  ],
  ['not inverts', '{"not":{"type":["integer","boolean"]}}', ['"a"'], ['1']],
  ['oneOf wants exactly one', '{"oneOf":[{"type":"integer"},{"minimum":2}]}', ['1', '2.5'], ['3', '1.5']],
  [
    'anyOf beside other keywords',
    '{"type":"string","anyOf":[{"maxLength":2},{"minLength":4}]}',
    ['"foobar"'],
    ['3', '"foo"'],
  ],
  [
    '$ref # recurses',
    '{"properties":{"foo":{"$ref":"#"}},"additionalProperties":false}',
    ['{"foo":{"foo":false}}'],
    ['{"foo":{"bar":false}}', '{"bar":1}'],
  ],
  [
    '$ref unescapes JSON pointers',
    '{"definitions":{"tilde~field":{"type":"integer"},"slash/field":{"type":"integer"},"percent%field":{"type":"integer"}},"properties":{"tilde":{"$ref":"#/definitions/tilde~0field"},"slash":{"$ref":"#/definitions/slash~1field"},"percent":{"$ref":"#/definitions/percent%25field"}}}',
    ['{"slash":1,"tilde":2,"percent":3}'],
    ['{"slash":"a"}', '{"tilde":"a"}', '{"percent":"a"}'],
  ],
  ['annotations mean nothing', '{"title":"x","description":"y","default":5,"examples":[1]}', ['1'], []],
  [
    'minProperties and maxProperties count members',
    '{"minProperties":1,"maxProperties":2}',
    ['{"a":1}', '[]'],
    ['{}', '{"a":1,"b":1,"c":1}'],
  ],
  ['minItems and maxItems count items', '{"minItems":1,"maxItems":2}', ['[1]', '""'], ['[]', '[1,2,3]']],
  [
    'exclusiveMinimum and exclusiveMaximum exclude',
    '{"exclusiveMinimum":1.1,"exclusiveMaximum":3}',
    ['2'],
    ['1.1', '3'],
  ],
  [
    'every matching patternProperties applies',
    '{"patternProperties":{"a*":{"type":"integer"},"aaa*":{"maximum":20}}}',
    ['{"a":21}'],
    ['{"aaaa":31}', '{"aaa":"x"}'],
  ],
  ['items applies to null', '{"items":{"type":"null"}}', ['[null]'], ['[1]']],
  [
    'a recursive schema in the style of structured outputs',
    '{"type":"object","properties":{"steps":{"type":"array","items":{"$ref":"#/$defs/step"}},"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["steps","next"],"additionalProperties":false,"$defs":{"step":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"],"additionalProperties":false}}}',
    ['{"steps":[{"x":"a"}],"next":null}', '{"steps":[],"next":{"steps":[],"next":null}}'],
    ['{"steps":[{"x":1}],"next":null}', '{"steps":[],"next":{"steps":[]}}'],
  ],
];

export const inDraft4: readonly ConformanceCase[] = [
  ['exclusiveMinimum makes minimum exclusive', '{"minimum":3,"exclusiveMinimum":true}', ['3.1'], ['3', '2']],
  ['exclusiveMinimum: false changes nothing', '{"minimum":3,"exclusiveMinimum":false}', ['3'], ['2']],
  ['exclusiveMaximum makes maximum exclusive', '{"maximum":3,"exclusiveMaximum":true}', ['2.9'], ['3', '4']],
  ['exclusiveMinimum alone means nothing', '{"exclusiveMinimum":true}', ['-5', '"a"'], []],
  [
    'additionalProperties and additionalItems may be booleans',
    '{"properties":{"a":{"items":[{}],"additionalItems":false}},"additionalProperties":false}',
    ['{"a":[1]}'],
    ['{"a":[1,2]}', '{"b":1}'],
  ],
  [
    '$ref resolves against the nearest id',
    '{"id":"https://schemas.example/tree","properties":{"next":{"$ref":"node"}},"definitions":{"node":{"id":"https://schemas.example/node","type":"integer"}}}',
    ['{"next":1}'],
    ['{"next":"a"}'],
  ],
  [
    '$ref hides its siblings',
    '{"definitions":{"r":{"type":"array"}},"properties":{"foo":{"$ref":"#/definitions/r","maxItems":2}}}',
    ['{"foo":[1,2,3]}'],
    ['{"foo":"s"}'],
  ],
];

export const inDraft7: readonly ConformanceCase[] = [
  [
    'a list of items with additionalItems: false is a tuple',
    '{"items":[{"type":"integer"}],"additionalItems":false}',
    ['[1]'],
    ['[1,2]'],
  ],
  ['additionalItems means nothing beside one schema for items', '{"items":{},"additionalItems":false}', ['[1,2]'], []],
  [
    'dependencies are names or a schema',
    '{"dependencies":{"bar":["foo"],"x":{"properties":{"y":{"type":"integer"}}}}}',
    ['{"bar":1,"foo":2}', '{"x":1,"y":1}'],
    ['{"bar":1}', '{"x":1,"y":"s"}'],
  ],
  [
    '$ref hides its siblings',
    '{"definitions":{"r":{"type":"array"}},"properties":{"foo":{"$ref":"#/definitions/r","maxItems":2}}}',
    ['{"foo":[1,2,3]}'],
    ['{"foo":"s"}'],
  ],
  [
    '$ref resolves against the nearest $id',
    '{"$id":"https://schemas.example/tree","type":"object","properties":{"nodes":{"type":"array","items":{"$ref":"node"}}},"definitions":{"node":{"$id":"https://schemas.example/node","type":"object","properties":{"value":{"type":"number"},"subtree":{"$ref":"tree"}},"required":["value"]}}}',
    ['{"nodes":[{"value":1,"subtree":{"nodes":[{"value":1.1}]}}]}'],
    ['{"nodes":[{"value":1,"subtree":{"nodes":[{"value":"s"}]}}]}'],
  ],
  [
    '$id: #name names a schema',
    '{"allOf":[{"$ref":"#foo"}],"definitions":{"A":{"$id":"#foo","type":"integer"}}}',
    ['1'],
    ['"a"'],
  ],
];

export const inDraft201909: readonly ConformanceCase[] = [
  [
    'a list of items with additionalItems: false is a tuple',
    '{"items":[{"type":"integer"}],"additionalItems":false}',
    ['[1]'],
    ['[1,2]'],
  ],
  [
    '$ref and what stands beside it both hold',
    '{"$defs":{"r":{"type":"array"}},"properties":{"foo":{"$ref":"#/$defs/r","maxItems":2}}}',
    ['{"foo":[1,2]}'],
    ['{"foo":[1,2,3]}', '{"foo":"s"}'],
  ],
  [
    '$recursiveRef recurses, with or without an anchor',
    '{"$recursiveAnchor":true,"type":"object","properties":{"a":{"$recursiveRef":"#"}},"unevaluatedProperties":false}',
    ['{"a":{"a":{}}}'],
    ['{"a":{"b":1}}', '{"b":1}'],
  ],
  [
    '$recursiveRef without an anchor is a plain reference',
    '{"anyOf":[{"type":"integer"},{"type":"array","items":{"$recursiveRef":"#"}}]}',
    ['1', '[1,[2,[]]]'],
    ['"a"', '[["a"]]'],
  ],
  ['dependentRequired names members', '{"dependentRequired":{"a":["b"]}}', ['{"a":1,"b":1}'], ['{"a":1}']],
  [
    'unevaluatedItems sees a list of items',
    '{"items":[{"type":"string"}],"unevaluatedItems":false}',
    ['["a"]'],
    ['["a",1]'],
  ],
  [
    'minContains and maxContains count',
    '{"contains":{"const":1},"minContains":2,"maxContains":3}',
    ['[1,1]'],
    ['[1]', '[1,1,1,1]'],
  ],
  ['$anchor names a schema', '{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"integer"}}}', ['1'], ['"a"']],
];

export const inDraft202012: readonly ConformanceCase[] = [
  ['minContains: 0 makes contains always true', '{"contains":{"const":1},"minContains":0}', ['[]', '[2]'], []],
  [
    'maxContains holds beside minContains: 0',
    '{"contains":{"const":1},"minContains":0,"maxContains":1}',
    ['[]', '[1]'],
    ['[1,1]'],
  ],
  ['items: false ends behind prefixItems', '{"prefixItems":[{},{}],"items":false}', ['[1,2]', '[1]'], ['[1,2,3]']],
  [
    'dependentRequired asks for companions',
    '{"dependentRequired":{"bar":["foo"]}}',
    ['{"bar":1,"foo":1}'],
    ['{"bar":1}'],
  ],
  [
    'dependentSchemas apply when the property is there',
    '{"dependentSchemas":{"bar":{"properties":{"foo":{"type":"integer"}}},"q":false}}',
    ['{"foo":"s"}'],
    ['{"bar":1,"foo":"s"}', '{"q":1}'],
  ],
  [
    '$ref stands beside its siblings',
    '{"$defs":{"r":{"type":"array"}},"properties":{"foo":{"$ref":"#/$defs/r","maxItems":2}}}',
    ['{"foo":[]}'],
    ['{"foo":[1,2,3]}', '{"foo":"s"}'],
  ],
  [
    '$ref resolves against the nearest $id',
    '{"$id":"https://schemas.example/tree","type":"object","properties":{"nodes":{"type":"array","items":{"$ref":"node"}}},"required":["nodes"],"$defs":{"node":{"$id":"https://schemas.example/node","type":"object","properties":{"value":{"type":"number"},"subtree":{"$ref":"tree"}},"required":["value"]}}}',
    ['{"nodes":[{"value":1,"subtree":{"nodes":[{"value":1.1}]}}]}'],
    ['{"nodes":[{"value":1,"subtree":{"nodes":[{"value":"s"}]}}]}'],
  ],
  ['$anchor names a schema', '{"$ref":"#foo","$defs":{"A":{"$anchor":"foo","type":"integer"}}}', ['1'], ['"a"']],
  [
    '$anchor belongs to its $id',
    '{"$ref":"https://schemas.example/nested.json#foo","$id":"https://schemas.example/root","$defs":{"A":{"$id":"nested.json","$defs":{"B":{"$anchor":"foo","type":"integer"}}}}}',
    ['1'],
    ['"a"'],
  ],
  [
    'one anchor name may stand under two $ids',
    '{"$id":"https://schemas.example/foobar","$defs":{"A":{"$id":"child1","allOf":[{"$id":"child2","$anchor":"my_anchor","type":"number"},{"$anchor":"my_anchor","type":"string"}]}},"$ref":"child1#my_anchor"}',
    ['"a"'],
    ['1'],
  ],
  [
    'an $id inside enum or const is no identifier',
    '{"$defs":{"id_in_enum":{"enum":[{"$id":"https://schemas.example/my_identifier.json","type":"null"}]},"real":{"$id":"https://schemas.example/my_identifier.json","type":"string"},"zzz":{"const":{"$id":"https://schemas.example/my_identifier.json","type":"null"}}},"anyOf":[{"$ref":"#/$defs/id_in_enum"},{"$ref":"https://schemas.example/my_identifier.json"}]}',
    ['{"$id":"https://schemas.example/my_identifier.json","type":"null"}', '"a string"'],
    ['1'],
  ],
  [
    '$id may be a URN',
    '{"$id":"urn:uuid:deadbeef-1234-ffff-ffff-4321feebdaed","minProperties":1,"properties":{"foo":{"$ref":"#/$defs/bar"}},"$defs":{"bar":{"type":"string"}}}',
    ['{"foo":"b"}'],
    ['{"foo":1}'],
  ],
  [
    'an anchor resolves against a URN',
    '{"$id":"urn:uuid:deadbeef-1234-ff00-00ff-4321feebdaed","properties":{"foo":{"$ref":"#something"}},"$defs":{"bar":{"$anchor":"something","type":"string"}}}',
    ['{"foo":"b"}'],
    ['{"foo":1}'],
  ],
  [
    'unevaluatedProperties knows what $ref evaluated',
    '{"$ref":"#/$defs/a","unevaluatedProperties":false,"properties":{"b":{}},"$defs":{"a":{"properties":{"a":{}}}}}',
    ['{"a":1,"b":2}'],
    ['{"c":1}'],
  ],
  [
    'unevaluatedProperties counts an if alone',
    '{"if":{"patternProperties":{"foo":{"type":"string"}}},"unevaluatedProperties":false}',
    ['{"foo":"a"}'],
    ['{"bar":"a"}'],
  ],
  [
    'unevaluatedProperties holds at every depth of a $dynamicRef',
    '{"$id":"https://example.com/tree","$dynamicAnchor":"node","type":"object","properties":{"data":true,"children":{"type":"array","items":{"$dynamicRef":"#node"}}},"unevaluatedProperties":false}',
    ['{"children":[{"data":1}]}'],
    ['{"children":[{"daat":1}]}'],
  ],
  ['unevaluatedItems: false refuses what nothing evaluated', '{"unevaluatedItems":false}', ['[]'], ['["f"]']],
  [
    'unevaluatedItems counts contains beside minContains: 0',
    '{"contains":{"type":"string"},"minContains":0,"unevaluatedItems":false}',
    ['[]', '["foo"]'],
    ['[0]', '["foo",0]'],
  ],
  [
    '$dynamicRef is a plain reference within one resource',
    '{"$id":"https://schemas.example/root","type":"array","items":{"$dynamicRef":"#items"},"$defs":{"foo":{"$dynamicAnchor":"items","type":"string"}}}',
    ['["a","b"]'],
    ['["a",42]'],
  ],
  [
    '$dynamicRef finds a plain anchor',
    '{"$id":"https://schemas.example/root","type":"array","items":{"$dynamicRef":"#items"},"$defs":{"foo":{"$anchor":"items","type":"string"}}}',
    ['["a"]'],
    ['["a",42]'],
  ],
  [
    '$ref finds a dynamic anchor',
    '{"$id":"https://schemas.example/root","type":"array","items":{"$ref":"#items"},"$defs":{"foo":{"$dynamicAnchor":"items","type":"string"}}}',
    ['["a"]'],
    ['["a",42]'],
  ],
];
