import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findForeignSyntax } from '../../../../src/features/mail/templates/foreign-syntax.ts'

/** `{{ .Name }} Go or another language` */
function named(...sources: string[]): string[] {
  return findForeignSyntax(sources).map(({ message }) =>
    message.replace(/ is a placeholder of (.*), which has no meaning here\.$/, ' $1'),
  )
}

test('listmonk is named for its roots and functions only', () => {
  for (const source of [
    '{{ .Subscriber.Name }}',
    '{{ if .Subscriber.Name }}',
    '{{ if eq .Tx.Data.plan "pro" }}',
    '{{ .Campaign.Subject }}',
    '{{ Date "2006-01-02" }}',
    '{{ .Name | Safe }}',
    '{{ L.T "title" }}',
    '{{ RootURL }}',
    '{{ template "content" . }}',
  ])
    assert.deepEqual(named(source), [`${source} listmonk`])
  for (const source of [
    '{{ .Name }}',
    '{{ $.Name }}',
    '{{ $x := .Name }}',
    '{{ printf "%s" .Name }}',
    '{{ template "header" . }}',
    '{{ define "x" }}',
  ])
    assert.deepEqual(named(source), [`${source} Go or another language`])
  for (const source of ['{{ if name }}', '{{ range .Items }}', '{{ with .Name }}'])
    assert.deepEqual(named(`${source}a{{ end }}`), [`${source} Go or another language`])
  for (const source of ['{{ > header }}', '{{ a if b else c }}', '{{ ! note }}'])
    assert.deepEqual(named(source), [`${source} another language`])
})

test('a block of Handlebars or Mustache is one finding, and one that was not begun is another', () => {
  const begun = ['{{ #if x }} Handlebars']
  assert.deepEqual(named('{{#if x}}A{{/if}}'), begun)
  assert.deepEqual(named('{{#if x}}A{{else}}B{{/if}}'), begun)
  assert.deepEqual(named('{{#if x}}A{{else if y}}B{{^}}C{{/if}}'), begun)
  assert.deepEqual(named('{{#if x}}A{{/if}}', '{{#if x}}A{{/if}}'), begun)
  assert.deepEqual(named('{{#vip}}A{{/vip}}{{^vip}}B{{/vip}}'), ['{{ #vip }} another language'])
  assert.deepEqual(named('{{^vip}}A{{/vip}}'), ['{{ ^vip }} another language'])
  assert.deepEqual(named('A{{/if}}'), ['{{ /if }} another language'])
  assert.deepEqual(named('{{ else }}{{#if x}}A{{/if}}{{ else }}'), begun)
})

test('a variable with a value is not of another service, whatever its fallback and filters', () => {
  const search = (source: string) =>
    findForeignSyntax([source], (name) => name === 'UnsubscribeURL')
  for (const rest of ['', ' | upcase', ' ?? x', ' | default: "x"', '.host', '["host"]'])
    assert.deepEqual(search(`{{ UnsubscribeURL${rest} }}`), [], rest)
  assert.equal(search('{{ OptinURL | upcase }}').length, 1)
})

test('what is written alike is read once', (t) => {
  const reads = t.mock.method(RegExp.prototype, 'exec')
  for (const source of ['{{ if a }}', '{{ .Name }}', '{{ UnsubscribeURL }}', '{{ a b }}']) {
    reads.mock.resetCalls()
    findForeignSyntax([source])
    const once = reads.mock.callCount()
    reads.mock.resetCalls()
    findForeignSyntax([source.repeat(10_000)])
    assert.ok(reads.mock.callCount() <= once, `${source} ${reads.mock.callCount()} ${once}`)
  }
})

test('plain variables are compared with no placeholder of others', (t) => {
  const source = Array.from({ length: 1_000 }, (_, at) => `{{ name${at} }}`).join('')
  const reads = t.mock.method(RegExp.prototype, 'exec')
  findForeignSyntax([source])
  assert.ok(reads.mock.callCount() < 8_000, `${reads.mock.callCount()}`)
})

test('nothing is read once there are ten findings', () => {
  const asked: string[] = []
  const source = Array.from({ length: 1_000 }, (_, at) => `{{ .Name${at} }}`).join('')
  const found = findForeignSyntax([source, source], (name) => {
    asked.push(name)
    return false
  })
  assert.deepEqual([found.length, asked.length], [10, 10])
})
