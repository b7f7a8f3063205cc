import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import timers from 'node:timers/promises'
import { addSuppressions } from '../../../../../src/features/mail/suppressions/add.ts'
import { nameVariables } from '../../../../../src/features/mail/templates/named-variables.ts'
import { checkCampaign } from '../../../../../src/features/outreach/campaigns/check/check.ts'
import { addMembers } from '../../../../../src/features/people/segments/edit-members.ts'
import { createSegment } from '../../../../../src/features/people/segments/edit-segment.ts'
import { parseAddress } from '../../../../../src/formats/address/address.ts'
import type { Outbound } from '../../../../../src/outbound/outbound.ts'
import { newId } from '../../../../../src/store/ids.ts'
import type { Campaign } from '../../../../../src/store/schema/campaigns.ts'
import { domains } from '../../../../../src/store/schema/domains.ts'
import { addProject, openTestCore, trustDomain } from '../../../../core.ts'
import { useOutbound } from '../../../../outbound/harness.ts'
import { addCampaign, addContacts } from '../sending/campaign.ts'

const { start: startThreads } = useOutbound()

type Hooks = Parameters<typeof openTestCore>[0]

async function open(t: Hooks) {
  const core = await openTestCore(t, {
    settings: {
      PILLARBOX_BASE_URL: 'https://mail.shop.test',
      PILLARBOX_DELIVERY__MODE: 'direct',
      PILLARBOX_INBOUND__LISTEN: '["127.0.0.1:25"]',
    },
  })
  const { id: projectId } = await addProject(core)
  await trustDomain(core, projectId, 'shop.test')
  await core.store.write((tx) => tx.update(domains).set({ isReturnPathFound: true }))
  core.directory.drop()
  const project = await core.directory.findProject(projectId)
  assert.ok(project)
  const check = async (fields: Partial<Campaign> = {}) => {
    const id = await addCampaign(core, projectId, fields)
    return (await checkCampaign(core, project, id)).findings
  }
  const codes = async (fields: Partial<Campaign> = {}) =>
    (await check(fields))
      .filter(({ code }) => code !== 'everybody')
      .map(({ code, severity }) => `${severity} ${code}`)
  return { core, projectId, project, check, codes }
}

const text = { subject: 'News', body: '<p>Hello</p>' }

test('a campaign in order has no findings', async (t) => {
  const { core, projectId, codes } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test', data: { name: 'Ada' } }])
  assert.deepEqual(await codes(), [])
})

test('a check says how many people a campaign to everybody reaches', async (t) => {
  const { core, projectId, check } = await open(t)
  const people = Array.from({ length: 1_203 }, (_, at) => ({
    ...{ address: `p${at}@dest.test`, subscribed: at > 2, data: { plan: 'pro' } },
  }))
  await addContacts(core, projectId, people)
  const from = parseAddress('p5@dest.test')
  assert.ok(from)
  await addSuppressions(core, { projectId, addresses: [from], reason: 'MANUAL' })
  const [found] = await check(text)
  const { code, severity, message, fix } = found ?? {}
  assert.deepEqual([code, severity], ['everybody', 'info'])
  assert.match(message ?? '', /goes to all 1,199 contacts that can get it/)
  assert.match(fix ?? '', /audienceType/)
  const toAll = await check({ ...text, type: 'TRANSACTIONAL' })
  const everybody = toAll.find((finding) => finding.code === 'everybody')
  assert.match(
    everybody?.message ?? '',
    /all 1,202 contacts that can get it, 3 of them unsubscribed\.$/,
  )
  assert.doesNotMatch(message ?? '', /unsubscribed/)
  const filters = [{ field: 'data.plan', operator: 'equals', value: 'pro' }]
  const audienceCondition = { logic: 'AND', groups: [{ filters }] }
  assert.deepEqual(await check({ ...text, audienceType: 'FILTERED', audienceCondition }), [])
})

test('a TRANSACTIONAL campaign that reaches unsubscribed contacts says how many', async (t) => {
  const { core, projectId, check, codes } = await open(t)
  const people = [false, false, false, true, true].map((subscribed, at) => ({
    ...{ address: `p${at}@dest.test`, subscribed, data: { plan: at === 4 ? 'pro' : 'free' } },
  }))
  await addContacts(core, projectId, people)
  const from = parseAddress('p0@dest.test')
  assert.ok(from)
  await addSuppressions(core, { projectId, addresses: [from], reason: 'MANUAL' })
  const ofPlan = (value: string) => ({
    ...{ ...text, audienceType: 'FILTERED' as const },
    audienceCondition: {
      logic: 'AND',
      groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value }] }],
    },
  })
  const [found, ...others] = await check({ ...ofPlan('free'), type: 'TRANSACTIONAL' })
  assert.deepEqual(others, [])
  assert.deepEqual([found?.code, found?.severity], ['unsubscribed_recipients', 'warning'])
  assert.match(
    found?.message ?? '',
    /^2 of the 3 recipients are unsubscribed and get the campaign all the same/,
  )
  assert.match(found?.fix ?? '', /MARKETING/)
  assert.deepEqual(await codes({ ...ofPlan('pro'), type: 'TRANSACTIONAL' }), [])
  for (const type of ['MARKETING', 'HEADLESS'] as const) {
    const found = await codes({ ...ofPlan('free'), type })
    assert.ok(!found.some((each) => each.endsWith('unsubscribed_recipients')), type)
  }
  const toAll = await check({ ...text, type: 'TRANSACTIONAL' })
  assert.match(toAll[0]?.message ?? '', /^2 of the 4 recipients/)
})

test('the only recipient of a campaign to everybody may be unsubscribed', async (t) => {
  const { core, projectId, check } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test', subscribed: false }])
  const messages = (await check({ ...text, type: 'TRANSACTIONAL' })).map(({ message }) => message)
  assert.match(
    messages[0] ?? '',
    /^The only recipient is unsubscribed and gets the campaign all the same/,
  )
  assert.match(messages[1] ?? '', /the only contact that can get it, who is unsubscribed\.$/)
})

test('an unverified sender, and a return path of another domain, are found', async (t) => {
  const { core, projectId, codes, check } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test' }])
  assert.deepEqual(await codes({ ...text, fromDomain: 'other.test' }), ['error sender_unverified'])
  await core.store.write((tx) => tx.update(domains).set({ isReturnPathFound: false }))
  core.directory.drop()
  const [finding] = await check(text)
  assert.equal(finding?.code, 'sender_not_aligned')
  assert.match(finding?.fix ?? '', /bounce\.shop\.test/)
})

test('an empty audience names those whom the type leaves out', async (t) => {
  const { check } = await open(t)
  const fixOf = async (type: Campaign['type']) => {
    const found = await check({ ...text, type })
    return found.find(({ code }) => code === 'empty_audience')?.fix
  }
  const look = 'Look at GET /campaigns/:id/audience: who is'
  for (const type of ['MARKETING', 'HEADLESS'] as const) {
    assert.equal(await fixOf(type), `${look} unsubscribed or suppressed is left out.`)
  }
  assert.equal(await fixOf('TRANSACTIONAL'), `${look} suppressed is left out.`)
})

test('an audience without recipients, a missing segment and a bad condition are errors', async (t) => {
  const { core, projectId, codes } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test', subscribed: false }])
  assert.deepEqual(await codes(text), ['error empty_audience'])
  assert.deepEqual(await codes({ ...text, type: 'TRANSACTIONAL' }), [
    'warning unsubscribed_recipients',
  ])
  const gone = { audienceType: 'SEGMENT', segmentId: newId() } as const
  assert.deepEqual(await codes({ ...text, ...gone }), ['error segment_missing'])
  const filters = [{ field: `segment.${newId()}`, operator: 'memberOfSegment' }]
  const condition = { logic: 'AND', groups: [{ filters }] }
  assert.deepEqual(
    await codes({ ...text, audienceType: 'FILTERED', audienceCondition: condition }),
    ['error condition_invalid'],
  )
})

test('variables that this audience never fills are found, those with a fallback are not', async (t) => {
  const { core, projectId, check } = await open(t)
  const [ada] = await addContacts(core, projectId, [
    { address: 'ada@dest.test', data: { name: 'Ada', plan: '' } },
    { address: 'bob@dest.test', data: { city: 'Rome' } },
  ])
  const body =
    '<p>{{name}} {{city}} {{plan}} {{naem}} {{ vip ?? no }} {{data.x | default: "y"}}{{postalAddress}}</p>'
  const names = async (fields: Partial<Campaign>) =>
    (await check({ subject: 'Hi', body, ...fields }))
      .filter(({ code }) => code === 'unfilled_variable')
      .map(({ message }) => /\{\{(.*)\}\}/.exec(message)?.[1])
  assert.deepEqual(await names({}), ['plan', 'naem'])
  const { id: segmentId } = await createSegment(core, { projectId, name: 'A', type: 'STATIC' })
  await addMembers(core, { projectId, id: segmentId, emails: ['ada@dest.test'] } as never)
  assert.ok(ada)
  assert.deepEqual(await names({ audienceType: 'SEGMENT', segmentId }), ['city', 'plan', 'naem'])
})

test('a slip in a variable with a fallback, or in a tag, is an information', async (t) => {
  const { core, projectId, check } = await open(t)
  await addContacts(core, projectId, [
    { address: 'ada@dest.test', data: { name: 'Ada', plan: 'pro', tags: ['a'], firstName: 'A' } },
  ])
  const slips = async (body: string) =>
    (await check({ subject: 'Hi', body }))
      .filter(({ code }) => code === 'unfilled_variable')
      .map(({ severity, message, fix }) => [
        severity,
        /\{\{(.*)\}\}/.exec(message)?.[1],
        /^Did you mean \{\{(.*)\}\}\? /.exec(fix)?.[1],
      ])
  for (const [body, name, meant] of [
    ['{{ nmae ?? friend }}', 'nmae', 'name'],
    ['{{ nmae | default: "friend" }}', 'nmae', 'name'],
    ['{{ name | default: nmae }}', 'nmae', 'name'],
    ['{{ contact.nmae ?? friend }}', 'nmae', 'name'],
    ['{% if plna == "pro" %}Pro{% else %}Free{% endif %}', 'plna', 'plan'],
    ['{% for t in tasg %}{{ t }}{% endfor %}', 'tasg', 'tags'],
    ['{% unless Name %}x{% endunless %}', 'Name', 'name'],
    ['{% assign x = fristName %}{{ x }}', 'fristName', 'firstName'],
    ['{% case plann %}{% when "pro" %}x{% endcase %}', 'plann', 'plan'],
    ['{{ emial ?? none }}', 'emial', 'email'],
  ])
    assert.deepEqual(await slips(`<p>${body}</p>`), [['info', name, meant]], body)
  for (const body of [
    '{{ vip ?? no }}{{ city | default: "Rome" }}{% if date %}x{% endif %}{{ code ?? none }}',
    '{% for nmae in tags %}{{ nmae ?? x }}{% endfor %}{% if name == "nmae" %}{% endif %}',
    '{{ name | append: "nmae" | truncate: 3 }}{% if data.size %}{% endif %}',
    '{% for t in tagz %}{{ t }}{% endfor %}{{ game ?? x }}{{ mail ?? x }}{{ plan2 ?? x }}',
    '{% liquid assign tasg = tags %}{{ tasg ?? x }}{% raw %}{% if nmae %}{% endraw %}',
  ])
    assert.deepEqual(await slips(`<p>${body}</p>`), [], body)
  const both = await slips('<p>{{ nmae }}{{ nmae ?? x }}</p>')
  assert.deepEqual(both, [['warning', 'nmae', 'name']])
})

test('other work may run between two names that are compared', async (t) => {
  const { core, projectId, check } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test', data: { name: 'Ada' } }])
  const yields = t.mock.method(timers, 'setImmediate')
  t.after(() => {
    yields.mock.restore()
    syncBuiltinESMExports()
  })
  syncBuiltinESMExports()
  const countYields = async (names: number) => {
    yields.mock.resetCalls()
    const each = Array.from({ length: names }, (_, at) => `{{ qqqq${at} ?? x }}`)
    await check({ subject: 'Hi', body: `<p>${each.join('')}</p>` })
    return yields.mock.callCount()
  }
  const few = await countYields(1)
  assert.ok((await countYields(60)) >= few + 59)
})

test('a block of Handlebars has one finding, and its branch is no variable', async (t) => {
  const { core, projectId, check } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test', data: { name: 'Ada' } }])
  const found = await check({ subject: 'Hi', body: '<p>{{#if name}}A{{else}}B{{/if}}</p>' })
  const warnings = found.filter(({ severity }) => severity === 'warning')
  assert.deepEqual(
    warnings.map(({ code, message }) => [code, message.split(',')[0]]),
    [['foreign_syntax', '{{ #if name }} is a placeholder of Handlebars']],
  )
})

test('blocks and functions of listmonk are named, and their words are no variables', async (t) => {
  const { core, projectId, check } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test', data: { name: 'Ada' } }])
  const found = await check({
    subject: 'Hi {{ .Subscriber.Attribs.city }}',
    body:
      '<p>{{ if name }}Hello{{ else }}Hello you{{ end }}{{ Date "2006-01-01" }}{{ RootURL }}' +
      '{{ if .Subscriber.Name }}</p>',
  })
  assert.deepEqual(
    found
      .filter(({ severity }) => severity === 'warning')
      .map(({ code, message, fix }) => [code, message.split(' is a ')[0], fix]),
    [
      ['{{ .Subscriber.Attribs.city }}', 'Write the name alone: {{ city }}.'],
      ['{{ if name }}', 'Write {% if name %}…{% else %}…{% endif %}.'],
      ['{{ Date "2006-01-01" }}', 'Write {{ "now" | date: "%Y-%m-%d" }}.'],
      ['{{ RootURL }}', 'Leave it out: the body is the whole message.'],
      ['{{ if .Subscriber.Name }}', 'Write {% if name %}…{% else %}…{% endif %}.'],
    ].map((each) => ['foreign_syntax', ...each]),
  )
  const [lone] = await check({ subject: 'Hi', body: '<p>{{ end }}</p>' })
  assert.match(lone?.message ?? '', /^No recipient has a value for \{\{end\}\}/)
})

test('the finding of a misspelt variable names the one that is meant', async (t) => {
  const { core, projectId, check } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test', data: { vorname: 'Ada' } }])
  const found = await check({ subject: 'Hi {{ Vorname }}', body: '<p>{{ zzz }}{{ vorname }}</p>' })
  const fixes = found.filter(({ code }) => code === 'unfilled_variable').map(({ fix }) => fix)
  assert.equal(fixes.length, 2)
  assert.match(fixes[0] ?? '', /^Did you mean \{\{vorname\}\}\? Correct the name/)
  assert.match(fixes[1] ?? '', /^Correct the name/)
})

test('a variable below contact is checked as without it, unless the data has the key', async (t) => {
  const { core, projectId, check } = await open(t)
  const body = '<p>{{ contact.email }}{{ contact.city }}{{ contact.naem }}</p>'
  const search = async () =>
    (await check({ subject: 'Hi', body })).filter(({ code }) => code === 'unfilled_variable')
  await addContacts(core, projectId, [{ address: 'ada@dest.test', data: { city: 'Rom' } }])
  const [finding, ...others] = await search()
  assert.match(finding?.message ?? '', /\{\{naem\}\}/)
  assert.deepEqual(others, [])
  const data = { contact: { naem: 'x' } }
  await addContacts(core, projectId, [{ address: 'bob@dest.test', data }])
  assert.deepEqual(await search(), [])
})

test('a misspelt variable of the service is recognized', async (t) => {
  const { core, projectId, check } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test', data: { url: 'x' } }])
  const found = await check({
    subject: 'Hi',
    body: '<p>{{ unsubscribe_url }}{{ postaladress }}</p>',
  })
  const fixes = found.filter(({ code }) => code === 'unfilled_variable').map(({ fix }) => fix)
  assert.match(fixes[0] ?? '', /^Did you mean \{\{unsubscribeUrl\}\}\?/)
  assert.match(fixes[1] ?? '', /^Did you mean \{\{postalAddress\}\}\?/)
})

test('a prefix of another service is named, and each placeholder has one finding', async (t) => {
  const { core, projectId, check } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test', data: { subject: 'x' } }])
  const body =
    '<p>{{ subscriber.name }}{{ Subscriber.Name }}{{ attribs.city }}{{ UnsubscribeURL }}{{ TrackView }}</p>'
  const found = (await check({ subject: 'Hi', body })).filter(
    ({ severity }) => severity === 'warning',
  )
  assert.deepEqual(
    found.map(({ code, fix }) => [code, fix.split('.')[0]]),
    [
      ['foreign_syntax', 'Write {{ unsubscribeUrl }}'],
      ['foreign_syntax', 'Leave it out: the tracking of the project decides about openings'],
      ['unfilled_variable', 'Write the key alone, without "subscriber'],
      ['unfilled_variable', 'Write the key alone, without "Subscriber'],
      ['unfilled_variable', 'Write the key alone, without "attribs'],
    ],
  )
})

test('a link to unsubscribe beside that of the footer is named', async (t) => {
  const { core, projectId, check, codes } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test' }])
  const own = { subject: 'Hi', body: '<p><a href="{{ unsubscribeUrl }}">Leave</a></p>' }
  assert.deepEqual(await codes({ ...own, type: 'MARKETING' }), ['info two_unsubscribe_links'])
  const [finding] = await check({ ...own, type: 'MARKETING' })
  assert.match(String(finding?.fix), /HEADLESS.* POST \/v1\/send sends it to everybody\.$/)
  assert.deepEqual(await codes({ ...own, type: 'HEADLESS' }), [])
  assert.deepEqual(await codes({ ...own, type: 'TRANSACTIONAL' }), [])
  const twice = { subject: 'Hi', body: own.body + own.body }
  assert.deepEqual(await codes({ ...twice, type: 'HEADLESS' }), [])
})

test('placeholders of other services are named once, with what to write', async (t) => {
  const { core, projectId, check } = await open(t)
  await addContacts(core, projectId, [{ address: 'ada@dest.test' }])
  const foreign: [text: string, fix: RegExp][] = [
    ['{{ .Subscriber.FirstName }}', /\{\{ name \}\}/],
    ['{{ template "content" . }}', /Leave it out/],
    ['{{ TrackLink "https://shop.test/" . }}', /the link itself/],
    ['{{ TrackView }}', /Leave it out/],
    ['{{ UnsubscribeURL }}', /\{\{ unsubscribeUrl \}\}/],
    ['{{ #if name }}', /\{% if name %\}/],
    ['@TrackLink', /Delete/],
    ['*|FNAME|*', /\{\{ name \}\}/],
    ['*|UNSUB|*', /\{\{ unsubscribeUrl \}\}/],
    ['*|IF:PLAN=pro|*', /\{% if/],
  ]
  const texts = foreign.map(([each]) => each)
  const own =
    '{{ name ?? x }}{{ unsubscribeUrl }}{{ TrackLinks ?? x }}**|bold|** *|x|* {$} 5% recipient.x% <%'
  const search = async (body: string) =>
    (await check({ subject: 'Hi', body })).filter(({ code }) => code === 'foreign_syntax')
  const found = await search(`<p>${texts.join(' ')} ${texts.join(' ')} ${own}</p>`)
  for (const [each, fix] of foreign) {
    const its = found.filter(({ message }) => message.startsWith(`${each} is a placeholder of`))
    assert.equal(its.length, 1, each)
    assert.match(its[0]?.fix ?? '', fix)
    assert.equal(its[0]?.severity, 'warning')
  }
  assert.deepEqual(await search(`<p>${own}</p>`), [])
  for (const text of [
    '%recipient.name%',
    '{$name}',
    '<%= name %>',
    '<% if name %>',
    '<% end %>',
    '*|ELSE:|*',
  ]) {
    const [its] = await search(`<p>${text} ${text}</p>`)
    assert.ok(its?.message.startsWith(`${text} is a placeholder of`), text)
    assert.equal(its?.fix.includes('{% else %}'), /if|end|else/i.test(text), text)
  }
})

test('a long message is searched in a thread, so that other requests need not wait', async (t) => {
  const { core, projectId, project } = await open(t)
  const people = Array.from({ length: 5 }, (_, at) => ({ address: `p${at}@dest.test` }))
  await addContacts(core, projectId, people)
  const product = '<a href="https://shop.test/">x</a><img src="https://shop.test/i.png">'
  const body = product.repeat(20_000)
  const id = await addCampaign(core, projectId, { subject: 'News', body })
  const { outbound } = await startThreads({})
  const listCodes = async (searching: Outbound) => {
    const { findings } = await checkCampaign({ ...core, outbound: searching }, project, id)
    return findings.map(({ code }) => code).filter((code) => code !== 'everybody')
  }
  assert.deepEqual(await listCodes(outbound), ['image_without_alt', 'html_too_large'])
  assert.deepEqual(await listCodes({ ...outbound, inspect: async () => [] }), [])
})

test('names that a text defines itself and those of the server are not data', () => {
  const source =
    '{% assign total = 5 %}{{total}}{% for item in items %}{{item.name}}{{forloop.index}}{% endfor %}' +
    '{% capture hello %}x{% endcapture %}{{hello}}{{email}}{{unsubscribeUrl}}{{data.plan}}{{first name}}'
  assert.deepEqual(nameVariables([source, '{{order.id}}']).printed, ['plan', 'first name', 'order'])
})
