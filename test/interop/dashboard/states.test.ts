/**
 * "Where is my mail?": an address typed gives the answer for each state of mail, in the words of the interface, in a
 * text for the customer, and in the record of the API. Only what is possible can be done.
 */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type Person, useDashboard } from './dashboard.ts'
import { type Mail, makeMailInAllStates, STATE_SETTINGS } from './mail-states.ts'

const dashboard = useDashboard(STATE_SETTINGS)

type Shown = {
  /** The heading up to the reason. */
  answer: string
  /** The reason in the list, which the heading has too, unless the answer says it. */
  reason: RegExp
  isTold?: true
  /** The beginning of the heading in German. */
  german: string
  customer: RegExp
  /** Status, state and code of the reason in the record. */
  record: string
  actions: readonly string[]
}

const [RETRY, CANCEL, SUPPRESS] = ['Try now', 'Cancel', 'Suppress the address']
const LIFT = 'Lift the suppression'

const STATES: Readonly<Record<string, Shown>> = {
  relayed: {
    ...{ answer: 'It was handed to the relay', german: 'Sie wurde dem Relay übergeben' },
    reason: /^127\.0\.0\.1 took it and has not reported the delivery$/,
    ...{ customer: /left us on .* on its way to you/, record: 'SENT relayed relayed' },
    actions: [SUPPRESS],
  },
  delivered: {
    ...{ answer: 'It was delivered', german: 'Sie wurde zugestellt' },
    reason: /^mx\.kept\.test accepted it$/,
    ...{ customer: /took our email .* spam folder/, record: 'DELIVERED delivered delivered' },
    actions: [SUPPRESS],
  },
  opened: {
    ...{ answer: 'It was delivered and opened', german: 'Sie wurde zugestellt und geöffnet' },
    ...{ reason: /^opened once, TIME$/, isTold: true },
    ...{ customer: /has been opened since/, record: 'OPENED delivered delivered' },
    actions: [SUPPRESS],
  },
  clicked: {
    answer: 'It was delivered, and a link was clicked',
    german: 'Sie wurde zugestellt, und ein Link wurde geklickt',
    ...{ reason: /^a link clicked, TIME$/, isTold: true },
    ...{ customer: /link in it has been followed/, record: 'CLICKED delivered delivered' },
    actions: [SUPPRESS],
  },
  complained: {
    answer: 'It was delivered and reported as spam',
    german: 'Sie wurde zugestellt und als Spam gemeldet',
    ...{ reason: /^reported as spam, TIME$/, isTold: true },
    ...{ customer: /reported to us as spam/, record: 'COMPLAINED delivered delivered' },
    actions: [LIFT],
  },
  bounced: {
    ...{ answer: 'It bounced', german: 'Sie wurde abgelehnt' },
    reason: /^550 5\.1\.1 No such mailbox here; suppressed since$/,
    ...{ customer: /refused our email/, record: 'BOUNCED bounced bounced', actions: [LIFT] },
  },
  expired: {
    ...{ answer: 'It was not delivered', german: 'Sie wurde nicht zugestellt' },
    reason: /^given up after 2 attempts: 452 4\.2\.2 Mailbox full$/,
    ...{ customer: /busy\.test did not take it in time/, record: 'FAILED failed given_up' },
    actions: [RETRY, SUPPRESS],
  },
  deferred: {
    answer: 'It waits for another attempt',
    german: 'Sie wartet auf einen weiteren Versuch',
    reason: /^mx\.grey\.test asks to try again later \(greylisting\); again at TIME$/,
    customer: /offered to grey\.test, .* keep trying until/,
    ...{ record: 'PENDING deferred retry_scheduled', actions: [RETRY, CANCEL, SUPPRESS] },
  },
  slowed: {
    answer: 'It waits for another attempt',
    german: 'Sie wartet auf einen weiteren Versuch',
    reason:
      /^slow\.test takes (?:nothing from this server; again at TIME|only \d+ emails? a minute)/,
    customer: /offered to slow\.test, .* keep trying until/,
    ...{ record: 'PENDING deferred receiver_', actions: [RETRY, CANCEL, SUPPRESS] },
  },
  held: {
    ...{ answer: 'It is held', german: 'Sie ist angehalten' },
    reason: /^an operator holds all mail to held\.test$/,
    ...{ customer: /stopped it for the moment/, record: 'PENDING held domain_held' },
    actions: [CANCEL, SUPPRESS],
  },
  paused: {
    ...{ answer: 'It waits', german: 'Sie wartet: ihre Kampagne' },
    reason: /^its campaign is paused$/,
    ...{ customer: /stopped it for the moment/, record: 'PENDING paused campaign_paused' },
    actions: [CANCEL, SUPPRESS],
  },
  cancelled: {
    ...{ answer: 'It was cancelled', german: 'Sie wurde abgebrochen' },
    ...{ reason: /^cancelled TIME$/, isTold: true },
    ...{ customer: /was cancelled by us/, record: 'FAILED failed cancelled' },
    actions: [RETRY, SUPPRESS],
  },
  suppressed: {
    ...{ answer: 'It was not sent', german: 'Sie wurde nicht gesendet' },
    reason: /^suppressed since TIME: added by hand$/,
    ...{ customer: /did not send our email/, record: 'SUPPRESSED suppressed suppressed' },
    actions: [LIFT],
  },
  received: {
    ...{ answer: 'It was received', german: 'Sie wurde empfangen' },
    ...{ reason: /^arrived at this server$/, isTold: true },
    ...{ customer: /^$/, record: 'RECEIVED received received', actions: [] },
  },
}

/** The text of the element, with instants as `TIME`; empty without one. */
async function textOf(page: Page, selector: string): Promise<string> {
  const found = page.locator(selector)
  if ((await found.count()) === 0) return ''
  return found.first().evaluate((element) => {
    const copy = element.cloneNode(true) as typeof element
    for (const time of copy.querySelectorAll('time')) time.textContent = 'TIME'
    return (copy.textContent ?? '').replace(/\s+/g, ' ').trim()
  })
}

/** Types the address into the search of the list, and opens the one hit; the reason that the list has. */
async function find(page: Page, { id, to }: Mail, typed = to): Promise<string> {
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await page.waitForURL(/\/emails$/)
  await page.getByRole('searchbox').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type(typed)
  const row = `tr:has(a[href$="${id}"])`
  await page.locator(row).waitFor()
  const reason = await textOf(page, `${row} .p2`)
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => url.pathname.endsWith(`/emails/${id}`))
  await page.locator('.aside .facts').waitFor()
  return reason
}

async function recordOf({ cookie }: Person, id: string): Promise<string> {
  const { url, project } = dashboard.program()
  const headers = { cookie, 'x-project-id': project.id }
  const response = await fetch(new URL(`/emails/${id}`, url()), { headers })
  const { status, state, reasonCode } = (await response.json()) as Record<string, string>
  return [status, state, reasonCode].join(' ')
}

describe('an address typed', { skip: dashboard.skip }, () => {
  let mails: Record<string, Mail>
  before(async () => {
    if (dashboard.skip === false) mails = await makeMailInAllStates(dashboard.program())
  })

  test('gives the answer for each state, and what can be done', async () => {
    const person = await dashboard.makePerson('MEMBER')
    await dashboard.visit({ person, path: '/app/PROJECT/activity' }, async (page) => {
      await page.locator('tbody tr').first().waitFor()
      for (const [name, expected] of Object.entries(STATES)) {
        const mail = mails[name] as Mail
        // A reply is found beside what it answers.
        const reason = await find(page, mail, name === 'received' ? mail.id : mail.to)
        const heading = expected.isTold ? expected.answer : `${expected.answer}: ${reason}`
        const lifting = page.getByRole('button', { name: LIFT })
        if (expected.actions.includes(LIFT)) await lifting.waitFor()
        assert.match(reason, expected.reason, name)
        const shown = await textOf(page, 'h1')
        // The pace of a slowed receiver may have changed since the list was read, and an attempt may have begun.
        if (name === 'slowed') assert.match(shown.replace(/^.*?: /, ''), expected.reason)
        else assert.equal(shown, heading, name)
        assert.match(await textOf(page, '.quote'), expected.customer, name)
        const buttons = await page.locator('.actions button').allTextContents()
        assert.deepEqual(buttons, expected.actions, name)
        const record = await recordOf(person, mail.id)
        assert.ok(record.startsWith(expected.record), `${name}: ${record}`)
      }
    })
  })

  test('gives it in German, too', async () => {
    const person = await dashboard.makePerson('MEMBER')
    const path = '/app/PROJECT/activity'
    await dashboard.visit({ person, path, language: 'de' }, async (page) => {
      await page.locator('tbody tr').first().waitFor()
      for (const [name, { german, customer }] of Object.entries(STATES)) {
        const mail = mails[name] as Mail
        await find(page, mail, name === 'received' ? mail.id : mail.to)
        const heading = await textOf(page, 'h1')
        assert.ok(heading.startsWith(german), `${name}: ${heading}`)
        const text = await textOf(page, '.quote')
        assert.equal(text === '', customer.source === '^$', name)
        assert.doesNotMatch(text, /Our email|Your mail/, name)
      }
    })
  })
})
