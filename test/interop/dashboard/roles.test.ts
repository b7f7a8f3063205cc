/** What a member, an admin, an owner, an operator and a stranger see of a project. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { endSessions } from '../../../src/features/tenancy/accounts/sessions/sessions.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { memberships } from '../../../src/store/schema/accounts.ts'
import { findAccessFaults, type Person, settled, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()
const NOWHERE = '0199a7c0-0000-7000-8000-000000000001'

describe('roles', { skip: dashboard.skip }, () => {
  let email = ''
  before(async () => {
    if (dashboard.skip !== false) return
    const { receive, send, untilState } = dashboard.program()
    await receive('grey.test', {
      respond: ({ verb }) => (verb === 'RCPT' ? '451 4.7.1 Greylisted' : undefined),
    })
    const [id = ''] = await send({ to: 'ada@grey.test', subject: 'Only for members' })
    await untilState(id, 'deferred')
    await receive('kept.test')
    const [arrived = ''] = await send({ to: 'bob@kept.test', subject: 'Arrived' })
    await untilState(arrived, 'delivered')
    email = id
  })

  for (const role of ['MEMBER', 'ADMIN', 'OWNER'] as const) {
    const isAdmin = role !== 'MEMBER'
    test(`${role} sees every screen, and which role a control needs`, async () => {
      const person = await dashboard.makePerson(role)
      await dashboard.visit({ person }, async (page) => {
        await settled(page)
        assert.equal(await page.locator('main').getByRole('alert').count(), 0)
        assert.equal(await page.locator('a[href*="/app/server"]').count(), 0)
        await page.locator('details.switcher summary').first().click()
        assert.deepEqual(await page.locator('.switcher .options a').allTextContents(), ['Shop'])

        await openFirstSteps(page)
        const keys = page.getByRole('button', { name: 'New secret key' })
        assert.equal(await keys.isEnabled(), isAdmin)
        const needed = page.getByText('This needs the role Admin.')
        assert.equal(await needed.count(), isAdmin ? 0 : 1)

        await page.getByRole('link', { name: 'Emails' }).first().click()
        await page.getByRole('link', { name: 'Only for members' }).click()
        for (const name of ['Try now', 'Cancel', 'Suppress the address']) {
          assert.ok(await page.getByRole('button', { name }).isEnabled(), name)
        }
        await page.getByRole('link', { name: 'Activity' }).first().click()
        await page.getByRole('link', { name: 'Arrived' }).first().waitFor()
        await page.getByRole('link', { name: person.address }).first().click()
        await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
        assert.equal(await page.getByRole('heading', { name: 'Server' }).count(), 0)
      })
    })
  }

  test('an operator and a stranger see the same page for this project as for none', async () => {
    const operator = await dashboard.makePerson(null, true)
    const stranger = await dashboard.makePerson(null)
    const visits = [
      { person: operator, screens: ['', `/emails/${email}`, '/activity'] },
      { person: stranger, screens: ['/emails'] },
    ]
    for (const { person, screens } of visits) {
      await dashboard.visit({ person, path: '/app/me' }, async (page) => {
        for (const screen of screens) {
          const seen: string[] = []
          for (const project of [dashboard.program().project.id, NOWHERE]) {
            await page.goto(new URL(`/app/${project}${screen}`, page.url()).href)
            await page
              .getByRole('heading', { level: 1, name: 'This page does not exist' })
              .waitFor()
            const text = await page.locator('body').innerText()
            seen.push(`${await page.title()}\n${text}`.replaceAll(project, 'ID'))
          }
          assert.equal(seen[0], seen[1], screen)
          assert.doesNotMatch(seen.join(), /Only for members/)
        }
      })
    }
    await dashboard.visit({ person: operator, path: '/app/PROJECT' }, async (page) => {
      await page.locator('h1').waitFor()
      assert.deepEqual(await findAccessFaults(page), [])
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('ada@grey.test')
      await page.getByText('Nothing is found').first().waitFor()
    })
  })

  test("another project's email is the same page as one that does not exist", async () => {
    const person = await dashboard.makePerson(null)
    const project = await makeProject(person)
    const seen: string[] = []
    for (const id of [email, NOWHERE]) {
      const path = `/app/${project}/emails/${id}`
      await dashboard.visit({ person, path, expected: /status of 404/ }, async (page) => {
        await page.getByText('No such email.').waitFor()
        seen.push((await page.locator('body').innerText()).replaceAll(id, 'ID'))
      })
    }
    assert.equal(seen[0], seen[1])
  })

  test('whoever is in no project reads so, and what to do', async () => {
    const person = await dashboard.makePerson(null)
    await dashboard.visit({ person, path: '/app' }, async (page) => {
      await page.getByRole('heading', { level: 1, name: 'A new project' }).waitFor()
      await page.getByText('You are in no project yet.').waitFor()
      await page.getByRole('button', { name: 'Create the project' }).waitFor()
      assert.deepEqual(await findAccessFaults(page), [])
    })
  })

  test('whoever is removed while they type keeps the text, and reads what happened', async () => {
    const person = await dashboard.makePerson('ADMIN')
    const expected = /status of 403/
    await dashboard.visit({ person, expected }, async (page) => {
      await openFirstSteps(page)
      const to = page.getByLabel('To', { exact: true })
      await to.fill('typed@grey.test')
      const { core } = dashboard.program()
      await core.store.write((tx) =>
        tx.delete(memberships).where(eq(memberships.userId, person.id)),
      )
      await page.getByRole('button', { name: 'Send it from here' }).click()
      await page.getByText('You are not a member of this project any more.').first().waitFor()
      assert.equal(await to.inputValue(), 'typed@grey.test')
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'This page does not exist' }).waitFor()
    })
  })

  test('a session that an operator ends asks for the log-in, and keeps the text', async () => {
    const person = await dashboard.makePerson('MEMBER')
    const path = '/app/PROJECT/emails'
    await dashboard.visit({ person, path, expected: /status of 401/ }, async (page) => {
      await page.getByRole('link', { name: 'Only for members' }).waitFor()
      const { core } = dashboard.program()
      await core.store.write((tx) => endSessions(tx, person.id))
      await page.getByRole('searchbox').fill('typed')
      await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
      assert.equal(await page.getByRole('searchbox').inputValue(), 'typed')
      assert.ok(await page.getByRole('link', { name: 'Only for members' }).count())
    })
  })

  test('an old key answers 401 once an admin has made new ones', async () => {
    const person = await dashboard.makePerson(null)
    const project = await makeProject(person)
    const renew = () => post(person, `/users/@me/projects/${project}/regenerate-keys`)
    const { secret: old } = (await (await renew()).json()) as { secret: string }
    const statusWith = async (secret: string) => {
      const headers = { authorization: `Bearer ${secret}` }
      return (await fetch(new URL('/emails', dashboard.program().url()), { headers })).status
    }
    assert.equal(await statusWith(old), 200)
    const { secret } = (await (await renew()).json()) as { secret: string }
    assert.deepEqual([await statusWith(old), await statusWith(secret)], [401, 200])
  })
})

async function openFirstSteps(page: Page): Promise<void> {
  await page.locator('h1').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('first steps')
  await page.getByRole('option', { name: 'Show the first steps' }).click()
  await page.getByRole('heading', { level: 1, name: 'Your first mail' }).waitFor()
}

function post({ cookie }: Person, route: string, body: object = {}): Promise<Response> {
  const url = new URL(route, dashboard.program().url())
  const headers = { cookie, origin: url.origin, 'content-type': 'application/json' }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** The id of a project of this person. */
async function makeProject(person: Person): Promise<string> {
  const response = await post(person, '/users/@me/projects', { name: 'Second' })
  assert.equal(response.status, 201)
  return ((await response.json()) as { id: string }).id
}
