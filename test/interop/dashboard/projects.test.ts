/** Several projects in one browser: whose data a screen shows and changes, and what a role or a state forbids. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { useDashboard } from './dashboard.ts'

const dashboard = useDashboard()

const OTHER = '0199a7c0-0000-7000-8000-00000000ffff'

/** As a click on another project does, before its screen is there. */
const leadElsewhere = (page: Page) =>
  page.evaluate(`history.replaceState(null, '', '/app/${OTHER}')`)

/** The projects that the writes of the page name, and the paths of these. */
function listenForWrites(page: Page): string[] {
  const found: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'GET') return
    const { pathname } = new URL(request.url())
    found.push(`${request.headers()['x-project-id']} ${request.method()} ${pathname}`)
  })
  return found
}

async function makeEmail(name: string): Promise<string> {
  const { receive, send, untilState } = dashboard.program()
  await receive(`${name}.test`)
  const [id = ''] = await send({ to: `ann@${name}.test`, subject: 'Hello' })
  await untilState(id, 'delivered')
  return id
}

describe('a change', { skip: dashboard.skip }, () => {
  test('goes to the project of the email that is shown, wherever the address leads', async () => {
    const id = await makeEmail('shown')
    const { project } = dashboard.program()
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: `/app/PROJECT/emails/${id}` }, async (page) => {
      const writes = listenForWrites(page)
      for (const name of ['Suppress', 'Lift']) {
        await page.getByRole('button', { name }).click()
        await leadElsewhere(page)
        await page.getByRole('dialog').getByRole('button', { name }).click()
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      assert.deepEqual(writes, [
        `${project.id} POST /suppressions`,
        `${project.id} DELETE /suppressions`,
      ])
    })
  })

  test('sends the first mail from the project whose first steps are shown', async () => {
    const { project } = dashboard.program()
    await dashboard.program().receive('first.test')
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/PROJECT' }, async (page) => {
      await page.locator('h1').waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('first steps')
      await page.keyboard.press('Enter')
      await page.getByLabel('To', { exact: true }).fill('ann@first.test')
      const writes = listenForWrites(page)
      await leadElsewhere(page)
      await page.getByRole('button', { name: 'Send it from here' }).click()
      await page.getByText('ann@first.test').first().waitFor()
      assert.deepEqual(writes, [`${project.id} POST /emails/test`])
    })
  })
})
