import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileTemplate, renderTemplate } from '../../../src/formats/template/template.ts'
import type { Variables } from '../../../src/formats/template/variables.ts'

describe('the namespace contact', () => {
  const variables: Variables = {
    stored: { name: '<i>', 'first name': 'Ada' },
    request: { order: '<b>7</b>', email: 'x' },
    system: { id: 'c1', email: 'a<b@example.test' },
  }
  const at = Date.parse('2026-05-06T07:08:09Z')
  const render = (source: string, format: 'html' | 'text', given = variables) =>
    renderTemplate(compileTemplate(source, format), given, { at }).text
  const sources: [source: string, html: string, text: string][] = [
    ['{{ contact.email }}', 'a&lt;b@example.test', 'a<b@example.test'],
    ['{{ contact.name }}', '&lt;i&gt;', '<i>'],
    ['{{ contact.first name }}', 'Ada', 'Ada'],
    ['{{ contact.order }}', '<b>7</b>', '<b>7</b>'],
    ['{{ contact.data.name }}', '&lt;i&gt;', '<i>'],
    ['{{ contact.data.id ?? none }}', 'none', 'none'],
    ['{{ contact.company ?? none }}', 'none', 'none'],
  ]
  for (const [source, html, text] of sources) {
    test(`prints ${source} as without it`, () => {
      // The second form needs the whole language.
      for (const form of [source, `{% if true %}${source}{% endif %}`]) {
        assert.equal(render(form, 'html'), html, form)
        assert.equal(render(form, 'text'), text, form)
      }
    })
  }

  test('leaves contact itself without a value', () => {
    const alone: [source: string, printed: string][] = [
      ['{{ contact }}', ''],
      ['{{ contact | default: "our desk" }}', 'our desk'],
      ['{{ contact ?? our desk }}', 'our desk'],
      ['{% if contact %}yes{% else %}no{% endif %}', 'no'],
      ['{% unless contact %}no{% endunless %}', 'no'],
      ['{% if contact == nil %}no{% endif %}', 'no'],
      ['{% for pair in contact %}x{% else %}no{% endfor %}', 'no'],
      ['{{ contact.size }}{{ contact | json }}', ''],
      ['{{ contact.contact }}{{ contact.contact.email }}', ''],
      ['{% assign all = contact %}{{ all.email }}', ''],
    ]
    for (const [source, printed] of alone) {
      assert.equal(render(source, 'html'), printed, source)
      assert.equal(render(source, 'text'), printed, source)
    }
  })

  test('is the variable that a template defines', () => {
    const sources: [source: string, printed: string][] = [
      ['{% assign contact = "desk" %}{{ contact }}{{ contact.email }}', 'desk'],
      ['{% for contact in data %}{{ contact.email }}{% endfor %}', ''],
      ['{% assign email = "local" %}{{ contact.id }}{{ email }}', 'c1local'],
    ]
    for (const [source, printed] of sources) assert.equal(render(source, 'text'), printed, source)
  })

  test('does not see the names that a template defines', () => {
    const source = '{% assign name = "local" %}{{ contact.name }}'
    const filter = '{{ "a" | split: "," | where_exp: "x", "contact.name == \'local\'" | size }}'
    assert.equal(render(source, 'text'), '<i>')
    assert.equal(render(source + filter, 'html'), '&lt;i&gt;0')
  })

  test('costs nothing where a template does not name it', () => {
    for (const format of ['html', 'url'] as const) {
      let reads = 0
      const stored = Object.defineProperty({}, 'name', {
        enumerable: true,
        get: () => (reads += 1),
      })
      const template = compileTemplate('{% if email %}yes{% endif %}', format)
      assert.equal(renderTemplate(template, { ...variables, stored }, { at }).text, 'yes')
      assert.equal(reads, format === 'html' ? 1 : 2, format)
    }
  })

  test('also serves tags', () => {
    const source = '{% if contact.email contains "b@" %}{{ contact.id | upcase }}{% endif %}'
    assert.equal(render(source, 'html'), 'C1')
  })

  test('gives way to data of that name', () => {
    for (const part of ['stored', 'request'] as const) {
      const given = { ...variables, [part]: { contact: { email: 'own' } } }
      for (const form of ['{{ contact.email }}', '{% if true %}{{ contact.email }}{% endif %}']) {
        for (const format of ['html', 'text'] as const) {
          assert.equal(render(form, format, given), 'own')
          assert.equal(render(form.replace('email', 'id'), format, given), '')
        }
      }
    }
  })
})
