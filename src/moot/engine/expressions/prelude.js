// What every evaluation finds: a fixed moment, seeded chance, a few filters, and nothing that outlives it. The functions
// at the end are the worker's; no code of people can reach or change what they use.
(function () {
  'use strict';
  let moment = 0, seed = [1, 2, 3, 4];
  const { parse, stringify } = JSON;
  const { create, freeze, getOwnPropertyNames, getPrototypeOf } = Object;
  const { isFinite } = Number;
  const run = (0, eval);
  const isMap = (value) => value instanceof Map || value instanceof WeakMap;
  const isSet = (value) => value instanceof Set || value instanceof WeakSet;
  const kinds = { Map, WeakMap, Set, WeakSet, Promise, SyntaxError, TypeError };

  function chance() { // xorshift128: the same seed gives the same numbers
    let t = seed[3];
    const s = seed[0];
    seed = [s, seed[0], seed[1], seed[2]];
    t ^= t << 11; t ^= t >>> 8;
    seed[0] = (t ^ s ^ (s >>> 19)) | 0;
    return (seed[0] >>> 0) / 4294967296;
  }
  function hex(digits) {
    let text = '';
    while (text.length < digits) text += Math.floor(chance() * 16).toString(16);
    return text;
  }

  const Clock = Date;
  const Fixed = class Date extends Clock {
    constructor(...given) { if (given.length) super(...given); else super(moment); }
    static now() { return moment; }
  };
  globalThis.Date = Fixed;
  Math.random = chance;
  globalThis.now = () => new Clock(moment).toISOString();
  globalThis.uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-${(8 + Math.floor(chance() * 4)).toString(16)}${hex(3)}-${hex(12)}`;
  for (const name of ['Atomics', 'SharedArrayBuffer', 'performance', 'WeakRef', 'FinalizationRegistry', 'queueMicrotask'])
    delete globalThis[name]; // they wait, share, or tell the time

  const filters = {
    first: (value) => value[0],
    json: (value) => stringify(value),
    last: (value) => value[value.length - 1],
    length: (value) => value.length,
    lower: (value) => String(value).toLowerCase(),
    path_to_key: (value) => String(value),
    trim: (value) => String(value).trim(),
    upper: (value) => String(value).toUpperCase(),
  };

  const compiled = create(null); // one text is one function, however often it is evaluated
  function compile(code, names) {
    const key = names + '\n' + code;
    if (compiled[key]) return compiled[key];
    const head = `(function(${names}){'use strict';`;
    let made;
    try {
      made = run(`${head}return (\n${code}\n)})`);
    } catch (error) {
      if (!(error instanceof kinds.SyntaxError) || !/\breturn\b/.test(code)) throw error;
      made = run(`${head}\n${code}\n})`);
    }
    return (compiled[key] = made);
  }

  function storable(key, value) {
    switch (typeof value) {
      case 'number': if (!isFinite(value)) throw new kinds.TypeError(`${key ? key + ' is' : 'The result is'} ${value}, which is no number that can be stored`); break;
      case 'bigint': throw new kinds.TypeError('A BigInt cannot be stored; use Number(…)');
      case 'function': case 'symbol': throw new kinds.TypeError(`A ${typeof value} cannot be stored`);
      case 'object':
        if (isMap(value)) throw new kinds.TypeError('A Map cannot be stored; use Object.fromEntries(…)');
        if (isSet(value)) throw new kinds.TypeError('A Set cannot be stored; use [...set]');
        if (value instanceof kinds.Promise) throw new kinds.TypeError('A Promise cannot be stored: nothing is waited for here');
    }
    return value;
  }

  // Between two evaluations nothing is handed on: no intrinsic can be replaced, and no global added (globalThis is one
  // of its own names).
  for (const name of getOwnPropertyNames(globalThis)) {
    const found = globalThis[name];
    if (typeof found === 'function' && found.prototype) freeze(found.prototype);
    if (found !== null && (typeof found === 'object' || typeof found === 'function')) freeze(found);
  }
  for (const hidden of [[][Symbol.iterator](), new Map().entries(), new Set().values(), ''[Symbol.iterator](), 'a'.matchAll(/a/g), (function* () {})(), (async () => {})(), new Int8Array()])
    for (let above = getPrototypeOf(hidden); above !== null; above = getPrototypeOf(above)) freeze(above);
  for (const hidden of [function* () {}, async () => {}, async function* () {}]) freeze(getPrototypeOf(hidden));

  const scope = create(null); // the JSON text of everything that may be used
  return {
    begin(text) { [moment, seed] = parse(text); },
    put(key, text) { scope[key] = text; },
    drop(key) { delete scope[key]; },
    evaluate(text) {
      const job = parse(text);
      const value = (key) => (key in scope ? parse(scope[key]) : undefined);
      const names = ['input', ...job.names.map(([name]) => name)];
      const values = () => job.names.map(([, key]) => value(key)); // each evaluation has its own, to sort as it likes
      const input = job.inputs.length === 1 && !job.lists ? value(job.inputs[0]) : job.inputs.map(value);
      let result = compile(job.code, names)(input, ...values());
      for (const filter of job.filters) result = filters[filter](result);
      if (result === undefined) return undefined;
      const found = stringify(result, storable);
      if (found === undefined) throw new kinds.TypeError('The result cannot be stored');
      if (job.validate && !compile(job.validate, ['output', ...names])(parse(found), input, ...values()))
        throw new kinds.TypeError(`The result ${found.slice(0, 200)} does not satisfy ${job.validate}`);
      return found;
    },
  };
})
