/** The page of an invitation in a real browser, on the desktop and on a phone. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inviteMember } from '../../../src/features/tenancy/accounts/invitations/invite.ts'
import { LANGUAGES } from '../../../src/texts/languages.ts'
import { textsOf } from '../../../src/texts/texts.ts'
import { useService } from '../../http/service.ts'
import { addUser, logIn } from '../../session.ts'
import { useChromium } from './chromium.ts'
import { enlargeLetters, lowestContrast, overflow, smallTargets } from './page-layout.ts'

/** Not localhost: over clear HTTP the browser does not say Sec-Fetch-Site to such a host. */
const LAN_HOST = 'mail.lan'

const { service, mine } = useService({ http: { allowedHosts: [LAN_HOST] } })
const { skip, visit } = useChromium([`--host-resolver-rules=MAP ${LAN_HOST} 127.0.0.1`])
const texts = textsOf('en').invitation
let count = 0

describe('in Chromium', { skip }, () => {
  for (const isLan of [false, true]) {
    const where = isLan ? 'of a local network, in clear' : 'of this machine'
    test(`a newcomer chooses a password and is a member, at a server ${where}`, async () => {
      const { path } = await invite()
      await visit({ javaScriptEnabled: false }, async (page) => {
        await page.goto(isLan ? atLan(path) : service.url + path)
        await page.getByLabel(texts.password).fill('a password')
        await page.getByRole('button', { name: texts.accept }).click()
        await page.getByRole('heading', { name: texts.accepted.title, exact: true }).waitFor()
        const [cookie] = await page.context().cookies()
        assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Lax'])
        await page.reload()
        await page.getByRole('link', { name: texts.accepted.button }).waitFor()
      })
    })
  }

  test('a page of another site cannot accept for a user who has logged in', async () => {
    const { path, address } = await invite()
    const { id } = await addUser(service.core, { address })
    const [name = '', value = ''] = (await logIn(service.core, id)).split('=')
    await visit({}, async (page) => {
      const cookie = { name, value, url: service.url, sameSite: 'Lax' as const }
      await page.context().addCookies([cookie])
      await page.route('http://evil.test/', (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<form method="post" action="${service.url + path}"><button>Win</button></form>`,
        }),
      )
      await page.goto('http://evil.test/')
      const answer = page.waitForResponse((response) => response.url() === service.url + path)
      await page.getByRole('button').click()
      assert.equal((await answer).status(), 403)
      await page.goto(service.url + path)
      await page.getByRole('button', { name: texts.accept }).click()
      await page.getByRole('heading', { name: texts.accepted.title, exact: true }).waitFor()
    })
  })

  test('no state in any language is wider than a phone, even with a doubled font size', async () => {
    const paths = await longPaths()
    await visit({ viewport: { width: 320, height: 640 } }, async (page) => {
      for (const language of LANGUAGES) {
        await page.setExtraHTTPHeaders({ 'Accept-Language': language })
        for (const path of paths) {
          await page.goto(service.url + path)
          assert.equal(await page.locator('html').getAttribute('lang'), language)
          assert.equal(await page.evaluate(overflow), 0, `${path} ${language}`)
          assert.deepEqual(await page.evaluate(smallTargets), [], `${path} ${language}`)
          await page.evaluate(enlargeLetters)
          assert.equal(await page.evaluate(overflow), 0, `${path} ${language}, large letters`)
        }
      }
    })
  })

  test('text has enough contrast in the light and the dark colour scheme', async () => {
    const paths = await longPaths()
    for (const colorScheme of ['light', 'dark'] as const) {
      await visit({ colorScheme }, async (page) => {
        for (const path of paths) {
          await page.goto(service.url + path)
          const { ratio, text } = await page.evaluate(lowestContrast)
          assert.ok(ratio >= 7, `${path}, ${colorScheme}: "${text}" has ${ratio}`)
        }
      })
    }
  })
})

/** For a newcomer, for an address with an account, and to nothing. */
async function longPaths(): Promise<string[]> {
  const long = () => `${'long.'.repeat(9)}${++count}@${'long'.repeat(10)}.people.test`
  const [newcomer, known] = [await invite(long()), await invite(long())]
  await addUser(service.core, { address: known.address })
  return [newcomer.path, known.path, '/invitations/nope']
}

async function invite(address = `guest${++count}@people.test`) {
  const role = 'ADMIN' as const
  const input = { projectId: mine.id, address, role, actorId: mine.ownerId }
  const invited = await inviteMember(service.core, input)
  const url = invited.url ?? ''
  return { address, path: `/invitations/${url.split('/').at(-1)}` }
}

function atLan(path: string): string {
  const { port } = new URL(service.url)
  return `http://${LAN_HOST}:${port}${path}`
}
