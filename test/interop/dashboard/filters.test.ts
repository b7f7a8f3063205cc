/** The filters of the lists, set by the keyboard alone: the address has them, and the rows are those of the API. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../../e2e/program.ts'
import { type Person, useDashboard } from './dashboard.ts'
import { makePaused, STATE_SETTINGS } from './mail-states.ts'

const dashboard = useDashboard(STATE_SETTINGS)
const DAY_MS = 86_400_000
/** Chips of which several items may be chosen. */
const MANY: readonly string[] = ['State', 'Kind']

type Case = {
  chip: string
  /** The items of its menu that are chosen. */
  items: readonly string[]
  /** The filter, as the address has it. */
  address: string
  /** And as the API has it. */
  query: string
}

const EMAIL_CASES: readonly Case[] = [
  {
    ...{ chip: 'State', items: ['delivered', 'bounced'] },
    ...{ address: '?status=DELIVERED,BOUNCED', query: 'status=DELIVERED,BOUNCED' },
  },
  { chip: 'State', items: ['paused'], address: '?state=paused', query: 'state=paused' },
  { chip: 'Source', items: ['Campaign'], address: '?source=CAMPAIGN', query: 'source=CAMPAIGN' },
]

/** Waits until the list shows the rows of this answer, which are some, and in its order. */
async function untilRows(page: Page, person: Person, route: string): Promise<void> {
  const { url, project } = dashboard.program()
  const headers = { cookie: person.cookie, 'x-project-id': project.id, prefer: 'handling=strict' }
  const response = await fetch(new URL(`${route}&limit=100`, url()), { headers })
  assert.equal(response.status, 200, route)
  const { data } = (await response.json()) as { data: { id: string }[] }
  assert.ok(data.length > 0, route)
  const wanted = data.map(({ id }) => id).join()
  const links = page.locator('tbody a')
  await eventually(async () => {
    const shown = await links.evaluateAll((all) => all.map((a) => a.getAttribute('href') ?? ''))
    const ids = shown.map((href) => new URL(href, url()).searchParams.get('entry') ?? idIn(href))
    return ids.join() === wanted ? true : undefined
  })
}

const idIn = (href: string) => href.slice(href.lastIndexOf('/') + 1)

const focused = (page: Page) =>
  page.evaluate('document.activeElement.textContent.trim()') as Promise<string>

/** Moves the focus with a key until what has it begins with this text. */
async function press(page: Page, key: string, text: string): Promise<void> {
  await eventually(async () => {
    if ((await focused(page)).startsWith(text)) return true
    await page.keyboard.press(key)
    return undefined
  })
}

async function openChip(page: Page, name: string): Promise<void> {
  await press(page, 'Tab', name)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name }).waitFor()
}

async function choose(page: Page, { chip, items }: Pick<Case, 'chip' | 'items'>): Promise<void> {
  await openChip(page, chip)
  for (const item of items) {
    await press(page, 'ArrowDown', item)
    await page.keyboard.press('Enter')
  }
  // A menu of several stays open.
  if (MANY.includes(chip)) await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: chip }).waitFor({ state: 'hidden' })
}

/** The last thing in the popover of a chip. */
async function clear(page: Page, chip: string): Promise<void> {
  await openChip(page, chip)
  await press(page, 'Tab', 'Any')
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => url.search === '')
}

/** A reload and a copied address show the same. */
async function assertKept(page: Page, person: Person, route: string): Promise<void> {
  await page.reload()
  await untilRows(page, person, route)
  const copy = await page.context().newPage()
  await copy.goto(page.url())
  await untilRows(copy, person, route)
  await copy.close()
}

describe('filters', { skip: dashboard.skip }, () => {
  before(async () => {
    if (dashboard.skip !== false) return
    const program = dashboard.program()
    await program.receive('kept.test')
    await program.receive('gone.test', {
      respond: ({ verb }) => (verb === 'RCPT' ? '550 5.1.1 No such mailbox' : undefined),
    })
    const to = ['ada@kept.test', 'bob@kept.test', 'eve@gone.test']
    for (const id of await program.send({ to })) {
      await program.untilState(id, 'delivered', 'bounced')
    }
    await makePaused(program)
  })

  test('of emails: states and sources', async () => {
    const person = await dashboard.makePerson('MEMBER')
    await dashboard.visit({ person, path: '/app/PROJECT/emails' }, async (page) => {
      // An exact total of a rare filter takes seconds among millions of emails.
      const totals = new Set<string>()
      page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url())
        const isNarrowed = searchParams.has('status') || searchParams.has('source')
        if (pathname === '/emails' && isNarrowed) totals.add(String(searchParams.get('total')))
      })
      await untilRows(page, person, '/emails?')
      for (const one of EMAIL_CASES) {
        await page.keyboard.press('/')
        await choose(page, one)
        await page.waitForURL((url) => url.search === one.address)
        await untilRows(page, person, `/emails?${one.query}`)
        await clear(page, one.chip)
        await untilRows(page, person, '/emails?')
      }
      assert.deepEqual([...totals], ['false'])
    })
  })

  test('of emails: campaign, receiver, domain and dates together, which stay after a reload', async () => {
    const person = await dashboard.makePerson('MEMBER')
    await dashboard.visit({ person, path: '/app/PROJECT/emails' }, async (page) => {
      await untilRows(page, person, '/emails?')
      await page.keyboard.press('/')
      // Its field keeps the focus, and the arrows move among the choices below it.
      await openChip(page, 'Campaign')
      await page.getByRole('combobox', { name: 'Campaign' }).and(page.locator(':focus')).waitFor()
      await page.getByRole('option', { name: 'News of May' }).waitFor()
      await eventually(async () => {
        const chosen = page.locator('[role=option][data-highlighted]', { hasText: 'News of May' })
        if ((await chosen.count()) > 0) return true
        await page.keyboard.press('ArrowDown')
        return undefined
      })
      await page.keyboard.press('Enter')
      await page.waitForURL(/\?campaign=[0-9a-f-]{36}$/)
      const campaign = new URL(page.url()).searchParams.get('campaign')
      await untilRows(page, person, `/emails?campaignId=${campaign}`)
      await clear(page, 'Campaign')

      await choose(page, { chip: 'Receiver', items: ['Other'] })
      await page.waitForURL(/\?receiver=Other$/)
      await untilRows(page, person, '/emails?receiver=Other')
      await clear(page, 'Receiver')

      await openChip(page, 'Receiver')
      await page.getByRole('menuitemradio').first().waitFor()
      await eventually(async () => {
        if ((await page.evaluate('document.activeElement.tagName')) === 'INPUT') return true
        await page.keyboard.press('Tab')
        return undefined
      })
      await page.keyboard.type('ada@Kept.test')
      await page.keyboard.press('Enter')
      await page.waitForURL(/\?domain=kept\.test$/)
      await choose(page, { chip: 'Dates', items: ['Last 24 hours'] })
      await page.waitForURL(/\?domain=kept\.test&range=24h$/)
      const startDate = new Date(Date.now() - DAY_MS).toISOString()
      const route = `/emails?domain=kept.test&startDate=${startDate}`
      await untilRows(page, person, route)
      await assertKept(page, person, route)

      // A filter that matches nothing says so, and is taken away whole.
      await page.keyboard.press('/')
      await page.keyboard.type('nobody@')
      await page.getByRole('heading', { name: 'Nothing matches' }).waitFor()
      await press(page, 'Tab', 'Clear')
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => url.search === '')
      await untilRows(page, person, '/emails?')
    })
  })

  test('of emails: own dates', async () => {
    const person = await dashboard.makePerson('MEMBER')
    const day = new Date().toISOString().slice(0, 10)
    const typed = `${day.slice(5, 7)}${day.slice(8)}${day.slice(0, 4)}`
    await dashboard.visit({ person, path: '/app/PROJECT/emails' }, async (page) => {
      await untilRows(page, person, '/emails?')
      await page.keyboard.press('/')
      await openChip(page, 'Dates')
      for (const label of ['From', 'Until']) {
        await eventually(async () => {
          const has = await page
            .getByLabel(label, { exact: true })
            .evaluate((one) => one.matches(':focus'))
          if (has) return true
          await page.keyboard.press('Tab')
          return undefined
        })
        await page.keyboard.type(typed)
      }
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => url.search === `?from=${day}&to=${day}`)
      await untilRows(page, person, '/emails?')
      await clear(page, 'Dates')
    })
  })

  test('of activity: types, together and after a reload', async () => {
    const person = await dashboard.makePerson('MEMBER')
    await dashboard.visit({ person, path: '/app/PROJECT/activity' }, async (page) => {
      await page.locator('tbody a').first().waitFor()
      await choose(page, { chip: 'Kind', items: ['bounced', 'delivered'] })
      await page.waitForURL((url) => url.search === '?type=email.delivered,email.bounced')
      const route = '/activity?fields=summary&types=email.delivered,email.bounced'
      await untilRows(page, person, route)
      await assertKept(page, person, route)
      await press(page, 'Tab', 'Kind')
      await clear(page, 'Kind')
    })
  })
})
