import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keysNamedIn } from '../../../src/formats/template/named-keys.ts'

const KEYS = ['plan', 'first name', 'other', 'größe']

const kept = (...sources: string[]) => KEYS.filter(keysNamedIn(sources))

test('a key is kept if a placeholder, a tag or a filter names it', () => {
  assert.deepEqual(kept('Hi {{ plan }}', '<p>{{first name}}</p>'), ['plan', 'first name'])
  assert.deepEqual(kept('{% if data.plan == "x" %}yes{% endif %}'), ['plan'])
  assert.deepEqual(kept('{{ contact.plan }}{{ contact.data.other }}'), ['plan', 'other'])
  assert.deepEqual(kept('{{ data["größe"] }}{{ x | default: other }}'), ['other', 'größe'])
  assert.deepEqual(kept('{{ data[&quot;plan&quot;] }}'), ['plan'])
})

test('any white space between the words of a key is one blank', () => {
  assert.deepEqual(kept('{{first  name}}'), ['first name'])
  assert.deepEqual(kept('{{ first\n name }}', '{{ data["x"] }}'), ['first name'])
  assert.deepEqual(['two  blanks'].filter(keysNamedIn(['{{ data["two  blanks"] }}'])), [
    'two  blanks',
  ])
})

test('a key that stands only in the text is not kept', () => {
  assert.deepEqual(kept('your plan, {{ email }}'), [])
})

test('a template that computes names, walks over all data or is faulty keeps all keys', () => {
  for (const source of [
    '{{ data[plan] }}',
    '{% for pair in data %}{{ pair[0] }}{% endfor %}',
    '{{ data | json }}',
    '{% for pair in contact.data %}{{ pair[0] }}{% endfor %}',
    '{% assign all = data %}{{ all.x }}',
    '{{ data.size }}',
    '{{ data["\\u0070lan"] }}',
    '{% assign e = "pl" | append: "an" %}{{ "a" | split: "," | group_by_exp: "x", e | json }}',
    '{% if x %}',
  ]) {
    assert.deepEqual(kept(source), KEYS, source)
  }
})
