/**
 * Every page in other languages: nothing is cut or scrolls sideways where texts are 40 % longer (the
 * pseudo-language) or German, and every word of the interface has a translation.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { findWideElements, settled, useDashboard } from './dashboard.ts'
import { findCutWords, findForeignWords } from './readable.ts'

/** Words of people, machines and `Intl`. */
const DATA = [
  // Sentences of the server and of a receiver, which say all that the column does not.
  /^It was delivered at .*|250 2\.6\.0 stored in the sandbox/,
  // Names of header fields.
  /\b(Date|From|To|Subject|MIME-Version|Message-ID|Reply-To|Feedback-ID|Content-Type)\b/,
  /\b(DKIM-Signature|X-[\w-]+)/,
  /\S+@\S+|sk_\S+/,
  /Shop|Xyz|Pillarbox|localhost|sandbox|[\w.]*example\.\w+|Chrom\w+|Linux|UTC/,
  /\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*\b|\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w*\b/,
  /\b(at|AM|PM|sec|ms|min|test)\b/,
]

const DOORS = ['login', 'signup', 'forgot', 'setup']
const dashboard = useDashboard({ PILLARBOX_DELIVERY__MODE: 'sandbox' })

/** What nobody can read at the two widths, with the place. */
async function findFaults(page: Page, language: string, place: string): Promise<string[]> {
  const faults: string[] = []
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 })
    await framesLater(page)
    const [wide, cut] = [await findWideElements(page), await findCutWords(page)]
    faults.push(...wide.map((one) => `wide: ${one}`), ...cut.map((one) => `cut: ${one}`))
    if (language === 'pseudo') {
      const foreign = await findForeignWords(page, DATA)
      faults.push(...foreign.map((one) => `not translated: ${one}`))
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  return [...new Set(faults)].map((one) => `${place}: ${one}`)
}

/** Charts take the new width in the frame after it changed. */
async function framesLater(page: Page): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(done))
  })`)
}

async function choose(page: Page, language: string) {
  await page.locator('h1').waitFor()
  await page.evaluate(`localStorage.setItem('pillarbox.language', '${language}')`)
}

describe('in other languages', { skip: dashboard.skip }, () => {
  for (const language of ['pseudo', 'de']) {
    test(`the doors can be read (${language})`, async () => {
      await dashboard.visit({ path: '/app/login' }, async (page) => {
        await choose(page, language)
        const faults: string[] = []
        for (const door of DOORS) {
          await page.goto(new URL(`/app/${door}`, page.url()).href)
          await page.locator('h1').waitFor()
          faults.push(...(await findFaults(page, language, door)))
        }
        assert.deepEqual(faults, [])
      })
    })

    test(`the pages of a project, the account and the set-up can be read (${language})`, async () => {
      const { program, makePerson } = dashboard
      const [id = ''] = await program().send({ to: 'ann@example.org', subject: 'Xyz' })
      await program().untilState(id, 'delivered')
      const person = await makePerson('OWNER', true)
      await dashboard.visit({ person }, async (page) => {
        await choose(page, language)
        const home = `/app/${program().project.id}`
        const paths = [
          ...[home, `${home}/emails`, `${home}/emails?q=nobody`, `${home}/emails/${id}`],
          ...['mail', 'headers', 'source'].map((tab) => `${home}/emails/${id}?tab=${tab}`),
          ...[`${home}/activity`, '/app/me', '/app/projects/new', `${home}/nowhere`],
          ...['server', 'checks', 'project'].map((step) => `/app/setup?step=${step}`),
        ]
        const faults: string[] = []
        for (const path of paths) {
          await page.goto(new URL(path, page.url()).href)
          await settled(page)
          faults.push(...(await findFaults(page, language, path.replace(home, ''))))
        }
        assert.deepEqual(faults, [])
      })
    })

    test(`the palette, the dialogs and the first steps can be read (${language})`, async () => {
      const person = await dashboard.makePerson()
      await dashboard.visit({ person }, async (page) => {
        await choose(page, language)
        await page.reload()
        await settled(page)
        const faults: string[] = []
        const look = async (place: string) => {
          faults.push(...(await findFaults(page, language, place)))
        }
        await page.keyboard.press('?')
        await page.getByRole('dialog').waitFor()
        await look('keys')
        await page.keyboard.press('Escape')
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox').waitFor()
        await look('palette')
        await page.getByRole('combobox').fill('suppress zoe@example.org')
        await page.locator('[role=option]', { hasText: 'zoe@example.org' }).click()
        await page.locator('dialog .btn.main').waitFor()
        await look('suppress')
        await page.locator('dialog .btn.main').click()
        await page.locator('dialog p[role=status]').waitFor()
        await look('suppressed')
        await page.keyboard.press('Escape')
        await page.evaluate(`localStorage.setItem('pillarbox.recent', '["first-steps"]')`)
        await page.keyboard.press('Control+k')
        await page.getByRole('option').first().waitFor()
        await page.keyboard.press('Enter')
        await page.locator('.mailbox').waitFor()
        await look('first steps')
        assert.deepEqual(faults, [])
      })
    })
  }

  for (const language of ['en', 'de']) {
    test(`the mark of the sandbox takes one line (${language})`, async () => {
      const person = await dashboard.makePerson()
      await dashboard.visit({ person, language }, async (page) => {
        await settled(page)
        const lines = await page.evaluate(
          `document.querySelector('.side .switch small').getClientRects().length`,
        )
        assert.equal(lines, 1)
      })
    })
  }
})
