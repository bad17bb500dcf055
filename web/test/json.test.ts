import { describe, expect, test } from 'vitest'

import { readJson, writeJson } from '../src/lib/json'

describe('JSON that keeps every digit', () => {
  test('an integer that a number cannot hold stays exact', () => {
    const text = '{"id": 9223372036854775807, "small": 7}'
    expect(readJson(text)).toEqual({ id: 9223372036854775807n, small: 7 })
    expect(writeJson(readJson(text), 0)).toBe('{"id": 9223372036854775807, "small": 7}')
  })

  test('what is undefined is left out, as JSON.stringify does', () => {
    expect(writeJson({ a: undefined, b: null, c: [12345678901234567890n] }, 0)).toBe('{"b": null, "c": [12345678901234567890]}')
  })

  test('digits within a string are text', () => {
    expect(readJson('["9223372036854775807", "a\\"9007199254740993"]')).toEqual([
      '9223372036854775807',
      'a"9007199254740993',
    ])
  })

  test('a long document is read as JSON.parse reads it', () => {
    const text = '[{"a": [1, -2.5e3, true, false, null, "\\u00e9\\n"], "b": {}}, [], 10000000000000000.5]'
    expect(readJson(text)).toEqual(JSON.parse(text))
  })

  test('a name cannot reach the prototype', () => {
    const found = readJson('{"__proto__": {"polluted": 12345678901234567890}}') as object
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype)
    expect(Object.keys(found)).toEqual(['__proto__'])
  })

  test.each(['{"a": 12345678901234567890', '[12345678901234567890,]', '12345678901234567890 1', '{"a" 12345678901234567890}'])(
    'what is no JSON is refused: %s',
    (text) => expect(() => readJson(text)).toThrow(),
  )
})
