/** The hosted pages have the colours and measures of the dashboard, and say whose pages they are. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import supertest from 'supertest'
import { tokenRules } from '../../../src/http/pages/tokens.ts'
import { addRecipient } from '../../features/people/contacts/add-recipient.ts'
import { useService } from '../service.ts'

const TOKENS = path.join(import.meta.dirname, '../../../src/dashboard/style/tokens.css')

const { service, mine } = useService()

const textOf = async (page: string) => (await supertest(service.url).get(page)).text

/** The names and values of a rule. */
function valuesIn(text: string): Record<string, string> {
  const properties = text.matchAll(/(--[\w-]+): ([^;]+);/g)
  return Object.fromEntries([...properties].map(([, name, value]) => [name, value]))
}

describe('the hosted pages', () => {
  it('have the tokens of the dashboard that they use, in both colour schemes', async () => {
    const own = valuesIn(readFileSync(TOKENS, 'utf8').split('\n}')[0] ?? '')
    for (const page of ['/manage/x', '/docs/guide']) {
      const text = await textOf(page)
      const sheet = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? ''
      const [light = '', dark = ''] = sheet.split('@media (prefers-color-scheme: dark)')
      const both = { light: valuesIn(light), dark: valuesIn(dark.split('\n}')[0] ?? '') }
      const used = [...sheet.matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name)
      assert.deepEqual(Object.keys(both.light), [...new Set(used)].sort())
      for (const [name, value] of Object.entries(both.light)) {
        const other = both.dark[name]
        assert.equal(other === undefined ? value : `light-dark(${value}, ${other})`, own[name])
      }
      assert.ok(Object.keys(both.dark).length > 10)
    }
  })

  it('use no token that the dashboard lacks', () => {
    const message = '--sky is no token'
    assert.throws(() => tokenRules('a { color: var(--sky); }'), { name: 'TypeError', message })
  })

  it('for contacts have the name of the project, and neither our mark nor a way to the dashboard', async () => {
    const on = await addRecipient(service.core, { projectId: mine.id })
    const off = await addRecipient(service.core, { projectId: mine.id, subscribed: false })
    for (const name of ['unsubscribe', 'subscribe', 'manage']) {
      for (const { token } of [on, off]) {
        const text = await textOf(`/${name}/${token}`)
        assert.match(text, /<header><p><bdi>mine<\/bdi><\/p><\/header>/)
        assert.doesNotMatch(text, /class="mark"|Pillarbox|href="[^"]*\/app/)
      }
      assert.doesNotMatch(await textOf(`/${name}/x`), /class="mark"|Pillarbox|href="[^"]*\/app/)
    }
  })

  it('for users have our mark, and end at the dashboard', async () => {
    for (const [page, end] of [
      ['/auth/verify-email?done=1', '../app'],
      ['/auth/reset-password?done=1', '../app/login'],
    ] as const) {
      const text = await textOf(page)
      assert.match(text, /<header><p><svg class="mark"/)
      assert.ok(text.includes(`<a class="button" href="${end}">`), text)
    }
    assert.match(await textOf('/auth/verify-email?token=x'), /<svg class="mark"/)
    assert.match(await textOf('/invitations/x'), /<svg class="mark"/)
  })
})
