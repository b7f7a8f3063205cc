/** A long list: which rows are in the document, what a screen reader hears of them, and what scrolling costs. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { useDashboard } from './dashboard.ts'
import { answerManyEmails, type ManyEmails } from './many-emails.ts'

const dashboard = useDashboard()

type ListOptions = { count?: number; pageRows?: number; width?: number }

/** Opens the list of a project with so many emails. */
async function visitList(
  { count = 10_000, pageRows, width = 1440 }: ListOptions,
  look: (page: Page, emails: ManyEmails) => Promise<void>,
): Promise<void> {
  const person = await dashboard.makePerson()
  await dashboard.visit({ person, width, path: '/app/me' }, async (page) => {
    const emails = await answerManyEmails(page, count, pageRows)
    const { url, project } = dashboard.program()
    await page.goto(new URL(`/app/${project.id}/emails`, url()).href)
    await row(page, 0).waitFor()
    await look(page, emails)
  })
}

const row = (page: Page, at: number) => page.locator(`tr[data-row="${at}"]`)

const scrollTo = (page: Page, at: number) => page.evaluate(`scrollTo(0, ${at})`)

/** The rows that are in the document once the window has come to its place. */
async function rowsOf(page: Page): Promise<{ from: number; to: number; count: number }> {
  const read = () =>
    page.locator('tr[data-row]').evaluateAll((rows) => rows.map((one) => Number(one.dataset.row)))
  let before = await read()
  for (;;) {
    await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
    )
    const now = await read()
    if (now.join() === before.join()) break
    before = now
  }
  return { from: before[0] ?? -1, to: (before.at(-1) ?? -2) + 1, count: before.length }
}

describe('a long list', { skip: dashboard.skip }, () => {
  test('has at most 80 of 10,000 rows in the document, each with its place among all', async () => {
    await visitList({ pageRows: 10_000 }, async (page) => {
      for (const top of [0, 100_000, 200_000, 10_000_000]) {
        await scrollTo(page, top)
        const { from, to, count } = await rowsOf(page)
        assert.ok(count === to - from && count >= 45 && count <= 80, `${count} rows`)
        for (const at of [from, to - 1]) {
          assert.equal(await row(page, at).getAttribute('aria-rowindex'), String(at + 2))
          assert.match((await row(page, at).textContent()) ?? '', new RegExp(`Mail ${at}`))
        }
      }
      await row(page, 9_999).waitFor()
      assert.equal(await page.locator('table').getAttribute('aria-rowcount'), '10001')
    })
  })

  test('makes only the rows that come into the window, and leaves the others alone', async () => {
    await visitList({ pageRows: 10_000 }, async (page) => {
      await scrollTo(page, 100_000)
      const before = await rowsOf(page)
      await page.evaluate(`
        counted = { added: 0, removed: 0, changed: 0 }
        new MutationObserver((records) => {
          for (const { type, target, addedNodes, removedNodes } of records) {
            const isRow = target.nodeName === 'TBODY'
            if (isRow) counted.added += addedNodes.length
            if (isRow) counted.removed += removedNodes.length
            if (!isRow && target.closest?.('.gap') === null) counted.changed += 1
          }
        }).observe(document.querySelector('tbody'), {
          childList: true, subtree: true, attributes: true, characterData: true,
        })`)
      await page.evaluate('scrollBy(0, 20 * document.querySelector("tr[data-row]").clientHeight)')
      const after = await rowsOf(page)
      const counted = await page.evaluate('counted')
      const moved = after.from - before.from
      assert.equal(moved, 20)
      assert.deepEqual(counted, { added: moved, removed: moved, changed: 0 })
    })
  })

  test('asks for the next page 1,500 pixels before the end, and not earlier', async () => {
    await visitList({ count: 10_000 }, async (page, { cursors }) => {
      const pages = () => new Set(cursors).size
      const end = () =>
        page.evaluate<number>(
          'document.querySelector("tbody").getBoundingClientRect().bottom + scrollY - innerHeight',
        )
      const first = await end()
      await scrollTo(page, first - 1_550)
      await rowsOf(page)
      assert.equal(pages(), 1)
      await scrollTo(page, first - 1_450)
      await page.getByText('10,000 entries').waitFor()
      while ((await end()) <= first) await rowsOf(page)
      assert.deepEqual([...new Set(cursors)], ['', '100'])
    })
  })

  test('stops at 20,000 rows, and says to narrow the filter', async () => {
    await visitList({ count: 30_000, pageRows: 2_000 }, async (page, { cursors }) => {
      const hint = page.getByText('Narrow the filter')
      while ((await hint.count()) === 0) {
        await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
      }
      await row(page, 19_999).waitFor()
      assert.match((await hint.textContent()) ?? '', /20,000/)
      assert.equal(new Set(cursors).size, 10)
      assert.equal(await page.locator('table').getAttribute('aria-rowcount'), '30001')
      assert.ok((await rowsOf(page)).count <= 80)
    })
  })

  test('is found again at the row that was opened, with the focus on it', async () => {
    await visitList({}, async (page, { pathOf }) => {
      await page.keyboard.press('End')
      await row(page, 99).locator('a:focus').waitFor()
      await row(page, 150).waitFor({ state: 'attached' })
      for (let count = 0; count < 30; count += 1) await page.keyboard.press('j')
      await row(page, 129).locator('a:focus').waitFor()
      const top = await page.evaluate<number>('scrollY')
      await page.route(/\/emails\/01/, (route) => route.abort())
      await page.keyboard.press('Enter')
      await page.waitForURL(new RegExp(`${pathOf(129)}$`))
      await page.goBack()
      await row(page, 129).locator('a:focus').waitFor()
      assert.equal(await page.evaluate('scrollY'), top)
      assert.equal(await row(page, 129).getAttribute('class'), 'current')
    })
  })
})
