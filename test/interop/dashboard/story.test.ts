/** Where a mail is, and why: the list of emails and the story of one, beside receivers that defer and refuse. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findAccessFaults, findWideElements, settled, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()

/** Words of a receiver that would be an element if a page took them for HTML. */
const WORDS = '5.1.1 no <img src=x onerror=alert(1)> mailbox here'

describe('the story of an email', { skip: dashboard.skip }, () => {
  test('goes from deferred to bounced, with both attempts, the class and the suppression', async () => {
    const { program } = dashboard
    await program().receive('slow.test', {
      respond: ({ verb, count }) => {
        if (verb !== 'RCPT') return undefined
        return count === 1 ? '451 4.7.1 Please come back later' : `550 ${WORDS}`
      },
    })
    const [id = ''] = await program().send({ to: 'ada@slow.test', subject: '<b>Your</b> order' })
    await program().untilState(id, 'deferred')
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/PROJECT/emails' }, async (page) => {
      await page.getByRole('searchbox').waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('ada@slow')
      await page.getByRole('link', { name: '<b>Your</b> order' }).waitFor()
      await page.getByText('deferred', { exact: true }).first().waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(new RegExp(`/emails/${id}$`))
      await page.getByText('451 4.7.1 Please come back later').first().waitFor()
      await page.getByRole('button', { name: 'Try now' }).click()
      await program().untilState(id, 'bounced')
      await page.getByRole('heading', { level: 1, name: /refused|bounced|mailbox/i }).waitFor()
      await page.getByText('550 5.1.1 no <img src=x onerror=alert(1)> mailbox').first().waitFor()
      assert.equal(await page.locator('main img').count(), 0)
      const text = (await page.locator('main').textContent()) ?? ''
      assert.ok(text.includes('Attempt 1') && text.includes('Attempt 2'))
      assert.ok(text.includes('The address was suppressed'))
      // Both replies as the receiver wrote them, each with its class in words.
      const story = page.getByRole('region', { name: 'Story' })
      const replies = await story.locator('blockquote').allTextContents()
      assert.deepEqual(replies, [`550 ${WORDS}`, '451 4.7.1 Please come back later'])
      for (const name of ['No such address.', 'Greylisting.']) {
        await story.getByText(name, { exact: true }).waitFor()
      }
      const customer = await page
        .locator('section', { has: page.getByRole('heading', { name: 'For the customer' }) })
        .last()
        .locator('.quote')
        .textContent()
      assert.match(customer ?? '', /<b>Your<\/b> order/)
      assert.doesNotMatch(customer ?? '', /550|5\.1\.1|img/)
      const receiver = page.getByRole('complementary').getByRole('link', { name: 'slow.test' })
      assert.equal(
        await receiver.evaluate((one) => one.href),
        new URL(`/app/${program().project.id}/emails?domain=slow.test`, page.url()).href,
      )
      assert.deepEqual(await findAccessFaults(page), [])
    })
  })

  test('is found by address, by id and by Message-ID, in the list and in the palette', async () => {
    const { program } = dashboard
    await program().receive('found.test')
    const [id = ''] = await program().send({ to: 'bob@found.test', subject: 'Find me' })
    await program().untilState(id, 'delivered')
    const person = await dashboard.makePerson('MEMBER')
    const story = new RegExp(`/emails/${id}`)
    await dashboard.visit({ person }, async (page) => {
      for (const text of ['bob@found.test', id, `<${id}@example.test>`]) {
        await dashboard.open(page, '/app/PROJECT/emails')
        await page.getByRole('searchbox').fill(text)
        await page.keyboard.press('Enter')
        await page.waitForURL(story)
      }
      for (const text of [id, `${id}@example.test`]) {
        await dashboard.open(page, '/app/PROJECT')
        await page.locator('h1').waitFor()
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox').fill(text)
        await page.getByRole('option', { name: /Find me/ }).waitFor()
        await page.keyboard.press('Enter')
        await page.waitForURL(story)
      }
    })
  })

  test('shows a mail that can do nothing', async () => {
    const { program } = dashboard
    await program().receive('hostile.test')
    const body = `<style>p { color: rgb(1, 2, 3) }</style><p id="p">Read me</p><script>top.alert(1)</script>
<img src="/uploads/x" onerror="top.document.title = 'taken'"><meta http-equiv="refresh" content="0;url=/app/me">
<a id="a" href="/app/me" target="_top">Leave</a><form action="/app/logout" method="post"><button>Send</button></form>
<iframe src="/app/me"></iframe><base href="https://192.0.2.1/">`
    const [id = ''] = await program().send({ to: 'eve@hostile.test', subject: 'Hostile', body })
    await program().untilState(id, 'delivered')
    const person = await dashboard.makePerson()
    // What the policy of the frame refuses is written to the console.
    const expected = /Content Security Policy|Blocked|sandboxed|Unsafe attempt/i
    await dashboard.visit(
      { person, path: `/app/PROJECT/emails/${id}?tab=mail`, expected },
      async (page) => {
        const frame = page.frameLocator('iframe')
        await frame.getByText('Read me').waitFor()
        const color = await frame.locator('#p').evaluate((element) => {
          // biome-ignore lint/suspicious/noExplicitAny: the code runs in the page.
          return (globalThis as any).getComputedStyle(element).color
        })
        assert.equal(color, 'rgb(1, 2, 3)')
        await frame.locator('#a').click()
        await frame.getByRole('button', { name: 'Send' }).click()
        assert.match(page.url(), new RegExp(`/emails/${id}`))
        assert.match(await page.title(), /^Hostile/)
        await page.reload()
        await page.locator('h1').waitFor()
      },
    )
  })

  for (const [width, scheme] of [
    [1440, 'light'],
    [390, 'dark'],
    [320, 'light'],
  ] as const) {
    test(`has no fault that axe finds and no sideways scroll, at ${width} pixels, ${scheme}`, async () => {
      const { program } = dashboard
      await program().receive(`axe${width}.test`)
      const [id = ''] = await program().send({ to: `long.${'x'.repeat(40)}@axe${width}.test` })
      await program().untilState(id, 'delivered')
      const person = await dashboard.makePerson()
      await dashboard.visit({ person, width, scheme }, async (page) => {
        for (const path of ['', 'emails', `emails/${id}`, `emails/${id}?tab=headers`, 'activity']) {
          if (path !== '') await dashboard.open(page, `/app/PROJECT/${path}`)
          await settled(page)
          assert.deepEqual(await findAccessFaults(page), [], path)
          assert.deepEqual(await findWideElements(page), [], path)
        }
      })
    })
  }
})
