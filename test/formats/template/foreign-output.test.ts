import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { keysNamedIn } from '../../../src/formats/template/named-keys.ts'
import {
  checkStoredTemplate,
  checkTemplate,
  compileTemplate,
  findQuickFault,
} from '../../../src/formats/template/template.ts'

describe('a placeholder of another language', () => {
  const foreign: [source: string, hint: RegExp][] = [
    ['{{#if name}}', /\{% if name %\}/],
    ['{{#each items}}', /\{% for item in items %\}/],
    ['{{/if}}', /\{% if name %\}/],
    ['{{^name}}', /\{% if name %\}/],
    ['{{> partial}}', /no partials/],
    ['{{>partial}}', /no partials/],
    ['{{{ name }}}', /two braces/],
    ['{{{FIRST_NAME|there}}}', /two braces/],
    ['{{& name}}', /raw/],
    ['{{! a note }}', /comment/],
    ['{{!-- a note --}}', /comment/],
    ['{{ .Subscriber.Name }}', /the name alone/],
    ['{{- .Name -}}', /the name alone/],
    ['{{ .Subscriber.Attribs.city }}', /the name alone: \{\{ city \}\}$/],
    ['{{ .Subscriber.Attribs.address.city }}', /: \{\{ address\.city \}\}$/],
    ['{{ .Subscriber.Email | Safe }}', /: \{\{ email \}\}$/],
    ['{{ .Subscriber.FirstName }}', /: \{\{ name \}\}$/],
    ['{{ .Subscriber.UUID }}', /: \{\{ id \}\}$/],
    ['{{ .Subscriber.Status }}', /: \{\{ subscribed \}\}$/],
    ['{{ .Tx.Data.order }}', /: \{\{ order \}\}$/],
    ['{{ .FirstName }}', /: \{\{ firstName \}\}$/],
    ['{{ $.URL }}', /: \{\{ url \}\}$/],
    [`{{ .Subscriber.Attribs.${'x'.repeat(200)} }}`, /: \{\{ name \}\}$/],
    ['{{ .Campaign.Subject }}', /no variables of the campaign/],
    ['{{ if .Subscriber.Attribs.plan }}', /write \{% if plan %\}…\{% else %\}…\{% endif %\}/],
    ['{{ if name }}a{{ end }}', /write \{% if name %\}…\{% else %\}/],
    ['{{ if eq .Plan "pro" }}A{{ else }}', /\{% if plan == "pro" %\}/],
    ['{{ if gt (len .Items) 0 }}A{{ end }}', /\{% if name %\}/],
    ['{{- range .Items -}}x{{- end -}}', /\{% for item in items %\}…\{% endfor %\}/],
    ['{{ range $i, $e := .Items }}x{{ end }}', /\{% for item in items %\}/],
    ['{{ with .Name }}x{{ end }}', /\{% if name %\}/],
    ['{{ define "x" }}', /no partials/],
    ['{{ block "x" . }}', /no partials/],
    ['{{ template "x" }}', /no partials/],
    ['{{/* a note */}}', /comment/],
    ['{{- /* a note */ -}}', /comment/],
    ['{{ $x := .Name }}', /\{% assign name = /],
    ['{{ Date "2006-01-01" }}', /\{\{ "now" \| date: "%Y-%m-%d" \}\}/],
    ['{{ Safe "<b>" }}', /raw/],
    ['{{ L.T "email.title" }}', /the text itself/],
    ['{{ TrackLink "https://shop.test" . }}', /the link itself/],
    ['{{ TrackView . }}', /leave it out/],
    ['{{ UnsubscribeURL . }}', /\{\{ unsubscribeUrl \}\}/],
    ['{{ printf "%s" .Name }}', /no functions/],
    ['{{ index .Subscriber.Attribs "city" }}', /no functions/],
    ['{{ x if y else z }}', /\{% if name %\}…\{% else %\}/],
    ['{{ "Dear " if not name else "Hi" | upcase }}', /\{% if name %\}/],
    ['{{ a if b == c else d }}', /\{% if name %\}/],
  ]
  for (const [source, hint] of foreign) {
    test(`such as ${source} is a fault with its place`, () => {
      const fault = checkTemplate(`{{ name }}\n<p>${source}</p>`)
      assert.match(fault?.message ?? '', /^a placeholder of another language; /)
      assert.match(fault?.message ?? '', hint)
      assert.deepEqual([fault?.line, fault?.column], [2, 4])
      assert.deepEqual(findQuickFault(`{{ name }}\n<p>${source}</p>`), fault)
    })
  }

  test('is not what this language has', () => {
    for (const source of [
      '{{ first name }}{{ # orders }}{{ $ amount }}{{ größe }}{{ user-name }}',
      '{{ name ?? "x" }}{{ "x" }}{{ first name | default: "x" }}{{ data["x"] }}',
      '{{ a == "b" }}{{ a contains ".x" }}{{- name -}}{{}}',
      '{{ user .name }}{{ contact .name }}{{ price $ }}{{ not "x" }}{{ .name }}',
      '{{ if .Name }}{{ index .Items 0 }}{{ &hellip; }}',
      '{% raw %}{{> partial}}{% endraw %}{% comment %}{{#if x}}{% endcomment %}',
      '{{ start }} to {{ end }}{{ else }}{{ else if x }}{{ if }}{{ block }}{{ end }}{{ if name }}',
      '{{ end }}{{ with ?? x }}{{ with love ?? x }}{{ end }}{{ block number }}{{ end }}',
      '{{ Date }}{{ Date of birth }}{{ Safe }}{{ L.T }}{{ template }}{{ RootURL }}{{ UnsubscribeURL }}',
      '{{ name ?? a if b else c }}{{ what if yes and what else then }}{{ if only else }}',
      '{{ name ?? .Subscriber.Name }}{{ "a .Subscriber.Name" }}{{ Subscriber.Name }}{{ a.Subscriber.b }}',
      '{% raw %}{{ if a }}{{ end }}{% endraw %}{% if a %}{{ end }}{% else %}{{ else }}{% endif %}',
    ]) {
      assert.equal(checkTemplate(source), undefined, source)
    }
  })

  test('is found where the block begins, also before other faults in it', () => {
    const fault = checkTemplate('a {{ end }}\n{{ if a }}{{ .Name }}{{ end }}')
    assert.deepEqual([fault?.line, fault?.column], [2, 1])
    assert.match(fault?.message ?? '', /write \{% if a %\}/)
  })

  test('is no fault of a template that is stored: it is sent as before', () => {
    const [source, all] = ['{% if a %}{% endif %}{{ .Name }}{{> header}}', ['a', 'b']]
    assert.equal(checkStoredTemplate(source), undefined)
    const block = '{{ if .Subscriber.Name }}Hello {{ name }}{{ else }}Hello you{{ end }}'
    assert.equal(checkStoredTemplate(block), undefined)
    assert.equal(compileTemplate('{{ if name }}a{{ end }}', 'html').fault, undefined)
    assert.equal(compileTemplate(source, 'html').fault, undefined)
    assert.equal(compileTemplate('{{ .Name }} {{', 'html').fault?.column, 13)
    assert.deepEqual(all.filter(keysNamedIn([source])), ['a'])
  })
})
