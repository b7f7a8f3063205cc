/** A long list: which rows are in the document, what a screen reader hears of them, and what scrolling costs. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { findAccessFaults, findWideElements, useDashboard } from './dashboard.ts'
import { answerManyEmails, type ManyEmails } from './many-emails.ts'

const dashboard = useDashboard()

type ListOptions = { count?: number; pageRows?: number; width?: number }

/** Opens the list of a project with so many emails. */
async function visitList(
  { count = 10_000, pageRows, width = 1440 }: ListOptions,
  look: (page: Page, emails: ManyEmails) => Promise<void>,
): Promise<void> {
  const person = await dashboard.makePerson()
  // The page of an email that only the list knows is not found.
  const expected = /status of 404/
  await dashboard.visit({ person, width, path: '/app/me', expected }, async (page) => {
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

/** The nodes in the memory of the page, in the document or not. */
async function countNodes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { nodes } = await session.send('Memory.getDOMCounters')
  await session.detach()
  return nodes
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
      // Rows that have left the window are gone from the memory too.
      const before = await countNodes(page)
      for (let step = 0; step < 30; step += 1) {
        await page.evaluate(
          'scrollBy(0, -20 * document.querySelector("tr[data-row]").clientHeight)',
        )
        await rowsOf(page)
      }
      const after = await countNodes(page)
      // The garbage of the last steps may still be there.
      assert.ok(after < 3 * before, `${before} nodes, then ${after}`)
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

  test('follows the clock: what was a time today has its day tomorrow', async () => {
    await visitList({}, async (page) => {
      await page.clock.install({ time: new Date('2026-11-20T12:30:00Z') })
      await page.reload()
      const when = row(page, 0).locator('time').last()
      assert.match((await when.textContent()) ?? '', /^12:00/)
      await page.clock.fastForward('24:00:00')
      await row(page, 0).getByText(/Nov/).waitFor()
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
      // The last rows came after the last look at the end.
      await page.keyboard.press('End')
      await row(page, 19_999).locator('a:focus').waitFor()
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
      await page.waitForFunction(() => {
        // biome-ignore lint/suspicious/noExplicitAny: the code runs in the page.
        return (globalThis as any).document.querySelector('table').clientHeight > 190 * 36
      })
      for (let count = 0; count < 30; count += 1) await page.keyboard.press('j')
      await row(page, 129).locator('a:focus').waitFor()
      const top = await page.evaluate<number>('scrollY')
      await page.keyboard.press('Enter')
      await page.waitForURL(new RegExp(`${pathOf(129)}$`))
      await page.goBack()
      await row(page, 129).locator('a:focus').waitFor()
      assert.equal(await page.evaluate('scrollY'), top)
      assert.equal(await row(page, 129).getAttribute('class'), 'current')
    })
  })
})

describe('the view of a list', { skip: dashboard.skip }, () => {
  test('has columns to choose, move and widen by keyboard, and keeps them for the user', async () => {
    await visitList({ count: 300 }, async (page) => {
      const heads = () => page.locator('thead th').allTextContents()
      assert.deepEqual(await heads(), ['To', 'Subject', 'State', 'Reason', 'Accepted ↓'])
      const view = page.getByRole('button', { name: 'View' })
      await view.focus()
      await page.keyboard.press('Enter')
      await page.getByRole('checkbox', { name: 'Attempts' }).focus()
      await page.keyboard.press('Space')
      const up = page.getByRole('button', { name: 'Move Attempts towards the start' })
      await up.focus()
      await page.keyboard.press('Enter')
      await page.getByText('Attempts is column 5 of 6.').waitFor({ state: 'attached' })
      await page.keyboard.press('Enter')
      await page.getByText('Attempts is column 4 of 6.').waitFor({ state: 'attached' })
      await page.getByRole('slider', { name: 'Width of To' }).focus()
      const before = await page.locator('th.w-to').evaluate((one) => one.offsetWidth)
      for (let count = 0; count < 5; count += 1) await page.keyboard.press('ArrowRight')
      const after = await page.locator('th.w-to').evaluate((one) => one.offsetWidth)
      assert.ok(after - before >= 30 && after - before <= 50, `${before} to ${after}`)
      assert.equal(await page.getByRole('checkbox', { name: 'Subject' }).isDisabled(), true)
      assert.deepEqual(await findAccessFaults(page), [])
      await page.keyboard.press('Escape')
      await view.and(page.locator(':focus')).waitFor()
      await page.reload()
      await row(page, 0).waitFor()
      const kept = ['To', 'Subject', 'State', 'Attempts', 'Reason', 'Accepted ↓']
      assert.deepEqual(await heads(), kept)
      assert.equal(await page.locator('th.w-to').evaluate((one) => one.offsetWidth), after)
      // Another user of this browser has the usual ones.
      const keys = await page.evaluate<string[]>('Object.keys(localStorage)')
      assert.equal(
        keys.filter((key) => /^pillarbox\.columns\.[\w-]{36}\.emails$/.test(key)).length,
        1,
      )
    })
  })

  test('keeps the focus on a column that is hidden and shown, wherever it goes', async () => {
    await visitList({ count: 300 }, async (page) => {
      const heads = page.locator('thead th')
      await page.getByRole('button', { name: 'View' }).focus()
      await page.keyboard.press('Enter')
      const box = page.getByRole('checkbox', { name: 'To', exact: true })
      await box.focus()
      for (const { key, last } of [
        { key: 'Space', last: 'Accepted ↓' },
        { key: 'Space', last: 'To' },
      ]) {
        await page.keyboard.press(key)
        await heads.last().getByText(last).waitFor()
        await box.and(page.locator(':focus')).waitFor()
      }
    })
  })

  test('is kept in the memory of a page whose browser keeps nothing', async () => {
    await visitList({ count: 300 }, async (page) => {
      await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
        Object.defineProperty(globalThis, name, {
          get() { throw new DOMException('The user denied it.', 'SecurityError') },
        })`)
      await page.reload()
      await row(page, 0).waitFor()
      await page.getByRole('button', { name: 'View' }).click()
      await page.getByRole('checkbox', { name: 'Attempts' }).click()
      const added = page.locator('thead th', { hasText: 'Attempts' })
      await added.waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: 'Activity' }).first().click()
      await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor()
      await page.getByRole('link', { name: 'Emails' }).first().click()
      await added.waitFor()
    })
  })

  test('has columns whose edge can be dragged, and a table that stays in its place', async () => {
    await visitList({ count: 300 }, async (page) => {
      const width = () => page.locator('th.w-to').evaluate((one) => one.offsetWidth)
      const before = await width()
      const edge = await page.locator('th.w-to .edge').boundingBox()
      const { x, y } = { x: (edge?.x ?? 0) + 4, y: (edge?.y ?? 0) + 10 }
      await page.evaluate(`
        globalThis.kept = []
        const { setItem } = Storage.prototype
        Storage.prototype.setItem = function (key, text) {
          kept.push(text)
          return setItem.call(this, key, text)
        }`)
      await page.mouse.move(x, y)
      await page.mouse.down()
      await page.mouse.move(x + 60, y, { steps: 3 })
      await page.mouse.up()
      await page.mouse.move(x + 200, y)
      assert.equal(await width(), before + 60)
      // Once, at the end.
      assert.deepEqual(
        (await page.evaluate<string[]>('kept')).map((text) => JSON.parse(text).widths),
        [{ to: before + 60 }],
      )
      await page.setViewportSize({ width: 760, height: 900 })
      await rowsOf(page)
      assert.deepEqual(await findWideElements(page), [])
    })
  })
})
