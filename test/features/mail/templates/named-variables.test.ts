import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameVariables } from '../../../../src/features/mail/templates/named-variables.ts'
import { MAX_MARKUP_LENGTH } from '../../../../src/formats/template/limits.ts'

test('printed names are listed once, without those that the text defines or gives a fallback', () => {
  const text =
    '{{ a }}{{ a }}{% assign b = 1 %}{{ b }}{{ c ?? "x" }}{{ d | default: 1 }}{{ data.e }}'
  assert.deepEqual(nameVariables([text, '{{ f }}']).printed, ['a', 'e', 'f'])
})

test('names with a fallback, in tags and in filters are listed apart, without those that are printed', () => {
  const text =
    '{{ a }}{{ a ?? x }}{{ b ?? c }}{{ d | default: e, allow_false: true }}{% if f.g == "h" and i %}' +
    "{% elsif not j contains 'k' %}{% endif %}{% for l in data.m limit: 2 reversed %}{{ l }}{% endfor %}" +
    '{% assign n = o | times: p %}{% cycle "q", r %}{{ s[0].t ?? u }}{{ v == w }}{% if x y %}{% endif %}'
  assert.deepEqual(nameVariables([text]), {
    printed: ['a'],
    guarded: [...'bdefijmoprsvwxy'],
  })
})

test('blocks of Go name no variables', () => {
  const go = '{{ if a }}{{ b }}{{ else }}{{ .C }}{{ end }}{{> d }}'
  assert.deepEqual(nameVariables([go]), { printed: ['b'], guarded: [] })
  assert.deepEqual(nameVariables(['{{ end }}{{ else }}']).printed, ['end', 'else'])
})

test('what stands below contact is named without it, unless contact is a variable', () => {
  assert.deepEqual(nameVariables(['{{ contact.a }}{{ contact.data.b }}{{ contact }}']).printed, [
    ...['a', 'b', 'contact'],
  ])
  const loop = '{% for contact in data.people %}{{ contact.a }}{{ contact }}{% endfor %}'
  assert.deepEqual(nameVariables([loop]).printed, [])
  assert.deepEqual(nameVariables(['{{ contact.a }}'], { hasContact: true }).printed, ['contact'])
})

test('F10: a text with more markup than a template may have is read up to there', () => {
  const long = `{{ b${' | upcase'.repeat(MAX_MARKUP_LENGTH / 9)} }}`
  assert.deepEqual(nameVariables([`{{ a }}${long}{{ c }}`, '{{ d }}']).printed, ['a', 'd'])
})

test('a long expression is read up to a limit, and many expressions, too', () => {
  const long = nameVariables([`{% cycle ${'a,'.repeat(1_000)}b %}{{ c }}{% assign d = 1 %}{{ d }}`])
  assert.deepEqual(long, { printed: ['c'], guarded: ['a'] })
  const cut = nameVariables([
    `{% cycle ${'a,'.repeat(998)}"${'b '.repeat(100)}" %}`,
    `{% cycle ${'a,'.repeat(998)}${'c'.repeat(50)} %}`,
  ])
  assert.deepEqual(cut, { printed: [], guarded: ['a'] })
  const names = Array.from({ length: 20_000 }, (_, at) => `a${at}`)
  const tags = names.map((name) => `{%if ${name}%}`).join('')
  const many = nameVariables([
    tags.slice(0, MAX_MARKUP_LENGTH / 2),
    '{{ c }}{% assign d = 1 %}{{ d }}',
  ])
  assert.deepEqual(many.printed, ['c'])
  const lines = nameVariables([
    `{% liquid\n${names.map((name) => `if ${name}`).join('\n')}\nassign c = 1\n %}{{ c }}`,
  ])
  assert.deepEqual(lines.printed, [])
  assert.equal(lines.guarded.length, 10_000)
})

test('what is written alike is read once', (t) => {
  const reads = t.mock.method(RegExp.prototype, 'exec')
  for (const source of ['{{ a b | c: d }}', '{{ if a }}', '{% if a %}', '{{ a ?? b }}']) {
    const times = [source, source.repeat(5_000)].map((text) => {
      reads.mock.resetCalls()
      nameVariables([text])
      return reads.mock.callCount()
    })
    const [once = 0, often = 0] = times
    // A tag is looked at once more where the markers are found.
    assert.ok(often <= once + (source.startsWith('{%') ? 5_000 : 0), `${source} ${times}`)
  }
})
