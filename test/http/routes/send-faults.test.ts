/** Faults in the templates of a send request: refused or sent with warnings. */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { updateProject } from '../../../src/features/tenancy/accounts/projects/projects.ts'
import { contents, emails } from '../../../src/store/schema/messages.ts'
import { idempotencyKeys } from '../../../src/store/schema/service.ts'
import { currentOwner } from '../../../src/turns/owner.ts'
import { trustDomain } from '../../core.ts'
import { useService } from '../service.ts'

const { service, mine, call } = useService({}, async ({ service, mine }) => {
  await trustDomain(service.core, mine.id, 'example.test')
})

const setting = (onTemplateFault: string) =>
  updateProject(service.core, mine.id, { onTemplateFault })

beforeEach(async () => {
  await service.core.store.write(async (tx) => {
    for (const table of [emails, contents, idempotencyKeys]) await tx.delete(table)
  })
  await setting('refuse')
})

const valid = {
  to: 'ann@example.net',
  from: 'hello@example.test',
  subject: 'Hi',
  body: '<p>Hi</p>',
}
const send = (body: object, query = '') => call('post', `/v1/send${query}`).send(body)
const rows = () => service.core.store.read.select().from(emails).all()

const BODY = '<p>Hello</p>\n  {% if vip %}<p>You</p>'
const OPEN = { line: 1, column: 7 }
const START = { line: 1, column: 1 }
const faulty: [name: string, change: object, field: string, place: object, kind: string][] = [
  ['a tag without its end', { body: BODY }, 'body', { line: 2, column: 3 }, 'tag "if" not closed'],
  ['a tag that is not closed', { text: '{% if x' }, 'text', START, 'tag "if" not closed'],
  [
    'an output that is not closed',
    { subject: 'Hello {{ name' },
    'subject',
    OPEN,
    'output not closed',
  ],
  [
    'an unknown filter',
    { text: 'Hello {{ name | upper }}' },
    'text',
    OPEN,
    'undefined filter: upper',
  ],
  [
    'a text alone',
    { body: undefined, text: '{% endif %}' },
    'text',
    START,
    'tag "endif" not found',
  ],
  [
    'a forbidden tag',
    { body: "{% render 'x' %}" },
    'body',
    START,
    'the tag "render" is not available',
  ],
  ['a list without its name', { body: '{% for x %}{% endfor %}' }, 'body', START, 'illegal tag'],
  ['another language', { body: '{{#if x}}' }, 'body', START, 'a placeholder of another language'],
  [
    'any other fault',
    { body: '{% capture %}{% endcapture %}' },
    'body',
    { line: 1, column: 11 },
    'the template has a fault',
  ],
]

for (const [name, change, field, place, kind] of faulty) {
  test(`${name} is refused with its place, and nothing is sent`, async () => {
    const { status, body } = await send({ ...valid, ...change })
    assert.equal(status, 422)
    assert.equal(body.error.code, 'VALIDATION_ERROR')
    const [error, ...others] = body.error.errors
    assert.deepEqual(others, [])
    assert.deepEqual([error.field, error.code], [field, 'template_syntax'])
    const { line, column } = place as typeof OPEN
    assert.ok(error.message.startsWith(`Line ${line}, column ${column}: `), error.message)
    assert.deepEqual(body.error.details, { field, ...place })
    const at = `line ${line}, column ${column}`
    assert.equal(body.error.message, `${field}: ${at}: ${kind}`)
    assert.deepEqual(await rows(), [])
  })

  test(`${name} is sent by a project of before, with a warning`, async () => {
    await setting('send')
    const { status, body } = await send({ ...valid, ...change })
    assert.equal(status, 200)
    const { line, column } = place as typeof OPEN
    const [warning, ...others] = body.data.warnings
    assert.deepEqual(others, [])
    assert.deepEqual(body.warnings, [
      { field, message: warning.slice(field.length + 2), suggestion: null },
    ])
    assert.ok(warning.startsWith(`${field}: Line ${line}, column ${column}: `), warning)
    assert.equal((await rows()).length, 1)
  })
}

test('odd placeholders that may be of this language are sent, and those of another one refused', async () => {
  const odd =
    '{{ user .name }}{{ contact .name }}{{ price $ }}{{ not "x" }}{{ .name }}{{ if .Name }}'
  const sent = await send({ ...valid, body: odd })
  assert.equal(sent.status, 200, sent.text)
  for (const clear of [
    '{{#if a}}',
    '{{/if}}',
    '{{^a}}',
    '{{> a}}',
    '{{{ a }}}',
    '{{&a}}',
    '{{! a }}',
    '{{ if a }}x{{ else }}y{{ end }}',
    '{{ range .Items }}x{{ end }}',
    '{{/* a */}}',
    '{{ TrackLink "https://shop.test/" . }}',
    '{{ a if b else c }}',
  ]) {
    assert.equal((await send({ ...valid, body: clear })).status, 422, clear)
  }
  assert.equal((await send({ ...valid, body: '{{ .Name }}' })).status, 422)
  assert.equal((await rows()).length, 1)
})

test('a block of Go is sent as before with onTemplateFault send, and a variable named end always', async () => {
  const data = { name: 'Ann', start: '1 pm', end: '2 pm' }
  const block = { ...valid, body: '{{ if name }}A{{ end }}', data }
  const sent = await call('post', '/v1/send?onTemplateFault=send').send(block)
  assert.equal(sent.status, 200, sent.text)
  assert.match(sent.body.warnings[0].message, /another language; write \{% if name %\}/)
  const event = await send({ ...valid, body: '{{ start }} to {{ end }}', data })
  assert.deepEqual([event.status, event.body.warnings], [200, undefined])
})

test('the error, which the request log keeps, quotes nothing of the template', async () => {
  const secret = 'ann-private'
  const texts = [`{{ a | ${secret} }}`, `{% ${secret} %}`, `{% if ${secret}`, `{% ${secret}`]
  texts.push(`{{ ${secret}`, `{% for ${secret} %}{% endfor %}`, `{% case ${secret} %}`)
  texts.push(`{{ a | ${'x'.repeat(41)} }}`, `{% if-${secret}`)
  for (const text of texts) {
    const { status, body } = await send({ ...valid, text })
    assert.equal(status, 422)
    assert.ok(!body.error.message.includes(secret), body.error.message)
  }
  const kept = service.requests
    .slice(-texts.length)
    .map(({ errorMessage }) => errorMessage?.replace('text: line 1, column 1: ', ''))
  assert.deepEqual(kept, [
    ...[
      'undefined filter',
      'the template has a fault',
      'tag "if" not closed',
      'a tag is not closed',
    ],
    ...['output not closed', 'illegal tag', 'tag "case" not closed'],
    ...['undefined filter', 'a tag is not closed'],
  ])
})

test('the faults of all texts are named', async () => {
  const { body } = await send({ ...valid, subject: '{{ a', body: '{{ b', text: '{{ c' })
  assert.deepEqual(
    body.error.errors.map(({ field }: { field: string }) => field),
    ['subject', 'body', 'text'],
  )
})

test('the query overrides the setting, in both directions', async () => {
  const wrong = { ...valid, body: '{{ b' }
  assert.equal((await send(wrong, '?onTemplateFault=send')).status, 200)
  await setting('send')
  assert.equal((await send(wrong, '?onTemplateFault=refuse')).status, 422)
  const unknown = await send(wrong, '?onTemplateFault=ignore')
  assert.deepEqual([unknown.status, unknown.body.error.errors[0].field], [422, 'onTemplateFault'])
  assert.equal((await rows()).length, 1)
})

test('the refusal of a used key has the warnings of the first answer', async () => {
  await setting('send')
  const keyed = () => send({ ...valid, body: '{{ b' }).set('Idempotency-Key', 'once')
  const first = await keyed()
  const again = await keyed()
  assert.equal(again.status, 409)
  assert.deepEqual(again.body.error.details.data, first.body.data)
  assert.equal(again.body.error.details.data.warnings.length, 1)
})

test('templates without a fault, and texts that are none, are sent without a warning', async () => {
  const fine = [
    '{{ name | default: "you" }} {% if a %}b{% endif %}',
    'Hello {{ name ?? you }} and {{ first name }}',
    '{ { no marker } }',
    '-----BEGIN PGP MESSAGE-----\n\n{{ x\n-----END PGP MESSAGE-----\n',
  ]
  for (const text of fine) {
    const { status, body } = await send({ ...valid, body: undefined, text })
    assert.equal(status, 200, text)
    assert.ok(!(body.data.warnings ?? []).some((each: string) => each.startsWith('text:')), text)
  }
})

test('a long template is checked in a composing thread', async () => {
  const { outbound } = service.core
  const checked: number[] = []
  const { checkTemplate } = outbound
  const spy = async (source: string) => {
    checked.push(source.length)
    return { message: 'tag not closed', line: 1, column: 2 }
  }
  Object.assign(outbound, { checkTemplate: spy })
  try {
    const body = `${'{{ name | upcase }}'.repeat(500)}{% if`
    const refused = await send({ ...valid, body })
    assert.equal(refused.status, 422)
    assert.deepEqual(checked, [body.length])
    // It is known now.
    assert.equal((await send({ ...valid, body })).status, 422)
    assert.deepEqual(checked, [body.length])
    // What a project of before sends neither waits for a thread nor has a fault there.
    const sent = await send({ ...valid, body: `${body} ` }, '?onTemplateFault=send')
    assert.deepEqual([sent.status, sent.body.warnings], [200, undefined])
    assert.deepEqual(checked, [body.length])
  } finally {
    Object.assign(outbound, { checkTemplate })
  }
})

test('a request whose client leaves while its template is checked is not accepted', async () => {
  const { outbound } = service.core
  const { checkTemplate } = outbound
  const leaves = new AbortController()
  const ended = Promise.withResolvers<void>()
  const spy = async () => {
    const left = Promise.withResolvers<void>()
    currentOwner().client?.onLeave(left.resolve)
    leaves.abort()
    await left.promise
    setImmediate(ended.resolve)
  }
  Object.assign(outbound, { checkTemplate: spy })
  try {
    const body = JSON.stringify({ ...valid, body: '{{ name | upcase }}'.repeat(501) })
    const headers = { authorization: `Bearer ${mine.secret}`, 'content-type': 'application/json' }
    const options = { method: 'POST', headers, body, signal: leaves.signal }
    await assert.rejects(fetch(`${service.url}/v1/send`, options), { name: 'AbortError' })
    await ended.promise
  } finally {
    Object.assign(outbound, { checkTemplate })
  }
  const { body } = await send({ ...valid, subject: 'later' })
  assert.deepEqual(
    (await rows()).map(({ id }) => id),
    [body.data.emails[0].email],
  )
})
