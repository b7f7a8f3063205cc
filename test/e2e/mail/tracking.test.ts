/** Opens and clicks through the whole program: what a recipient's message holds, and what it tells. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { simpleParser } from 'mailparser'
import { eq } from '../../../src/store/drizzle.ts'
import { emails } from '../../../src/store/schema/messages.ts'
import { eventually, type Program, startProgram } from '../program.ts'
import type { ShownEmail } from './shown-email.ts'

const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

type Counts = Record<'opens' | 'clicks' | 'machineOpens' | 'machineClicks', number>
type Activity = { id: string; type: string; metadata: Record<string, unknown> }

let program: Program

const body = `<p>Hello {{ name }}</p>
<p><a href="https://shop.test/sale?a=1&amp;b=2">Sale</a>
<a href="https://shop.test/for/{{ name }}">Yours</a>
<a href="{{ next }}">Next</a>
<a href="mailto:help@shop.test">Write</a> <a href="tel:+4712345">Call</a> <a href="#top">Top</a>
<a href="{{ unsubscribeUrl }}">Unsubscribe</a></p>`

/** Sends to a recipient of its own; the HTML as that recipient has it. */
async function send(to: string, request: Record<string, unknown> = {}) {
  const data = { name: 'ada', next: 'https://shop.test/next' }
  const [id = ''] = await program.send({ to, body, data, ...request })
  await program.untilState(id, 'delivered')
  const list = (await program.command('sandbox', 'list')) as { id: number; to: string }[]
  const number = list.find((message) => message.to.includes(to))?.id
  const { html } = await simpleParser((await program.run('sandbox', 'show', String(number))).raw)
  return { id, html: html || '' }
}

/** The first message as this mode makes it: the server hears of a command within 200 ms. */
async function sendInMode(mode: string, isSo: (html: string) => boolean) {
  await program.command('project', 'update', program.project.id, '--tracking', mode)
  let number = 0
  return eventually(async () => {
    const sent = await send(`${mode.toLowerCase()}${++number}@one.test`)
    return isSo(sent.html) ? sent : undefined
  })
}

const hrefs = (html: string) =>
  [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))
const pixels = (html: string) =>
  [...html.matchAll(/src="([^"]*\/t\/o\/[^"]*)"/g)].map(([, at]) => at)

/** At the program's port, whatever host the address names. */
function visit(address: string | undefined, headers: Record<string, string> = {}, method = 'GET') {
  const { pathname, search } = new URL(address ?? '')
  return fetch(new URL(pathname + search, program.url()), {
    ...{ method, redirect: 'manual' },
    headers: { 'user-agent': BROWSER, ...headers },
  })
}

/** The email as `queue show` prints it, once this holds. */
const untilCounted = (id: string, isSo: (counts: Counts) => boolean) =>
  eventually(async () => {
    const shown = (await program.command('queue', 'show', id)) as ShownEmail & Counts
    return isSo(shown) ? shown : undefined
  })

async function activitiesOf(id: string): Promise<Activity[]> {
  const { body: page } = await program.call('GET', '/activity?limit=100')
  const { data } = page as { data: Activity[] }
  return data.filter((each) => each.id.startsWith(id) && /opened|clicked/.test(each.type)).reverse()
}

describe('tracking in the sandbox', () => {
  before(async () => {
    program = await startProgram({ PILLARBOX_DELIVERY__MODE: 'sandbox' })
  })

  after(() => program.close())

  it('records the open and the click of a message', async () => {
    const { id, html } = await send('ada@one.test')
    const [pixel] = pixels(html)
    const gif = await visit(pixel)
    assert.equal(gif.headers.get('content-type'), 'image/gif')
    await untilCounted(id, ({ opens }) => opens === 1)
    const [sale] = hrefs(html)
    const reply = await visit(sale)
    const link = 'https://shop.test/sale?a=1&b=2'
    assert.deepEqual([reply.status, reply.headers.get('location')], [302, link])
    const { status } = await untilCounted(id, ({ clicks }) => clicks === 1)
    assert.equal(status, 'CLICKED')
    const [open, click, ...others] = await activitiesOf(id)
    assert.deepEqual(others, [])
    assert.deepEqual(
      [open?.type, open?.metadata.opens, open?.metadata.isFirstOpen],
      ['email.opened', 1, true],
    )
    assert.deepEqual(
      [click?.type, click?.metadata.link, click?.metadata.clicks, click?.metadata.isFirstClick],
      ['email.clicked', link, 1, true],
    )
  })

  it('counts clicks on links that the template builds, and changes nothing else', async () => {
    const { html } = await send('eve@one.test')
    const all = hrefs(html)
    const targets = await Promise.all(
      all.slice(0, 3).map(async (href) => (await visit(href)).headers.get('location')),
    )
    assert.deepEqual(targets, [
      'https://shop.test/sale?a=1&b=2',
      'https://shop.test/for/ada',
      'https://shop.test/next',
    ])
    assert.deepEqual(all.slice(3, 6), ['mailto:help@shop.test', 'tel:+4712345', '#top'])
    assert.match(all[6] ?? '', /\/unsubscribe\//)
  })

  it('counts machines separately and emits no event for them', async () => {
    const { id, html } = await send('bob@one.test')
    const [pixel] = pixels(html)
    const [sale, yours, next] = hrefs(html)
    await visit(pixel, { 'user-agent': 'Mozilla/5.0' })
    await visit(sale, {}, 'HEAD')
    await Promise.all([sale, yours, next].map((href) => visit(href)))
    const shown = await untilCounted(id, (counts) => counts.machineClicks === 4)
    assert.deepEqual(
      [shown.opens, shown.clicks, shown.machineOpens, shown.status],
      [0, 0, 1, 'DELIVERED'],
    )
    assert.deepEqual(await activitiesOf(id), [])
  })

  it('is absent from a message that is sent without it and from a project that disables it', async () => {
    const plain = await send('off@one.test', { tracking: false })
    assert.doesNotMatch(plain.html, /\/t\/[oc]\//)
    assert.equal(hrefs(plain.html)[0], 'https://shop.test/sale?a=1&b=2')
    for (const mode of ['DISABLED', 'MARKETING_ONLY']) {
      const { html } = await sendInMode(mode, (sent) => !sent.includes('/t/o/'))
      assert.doesNotMatch(html, /\/t\/[oc]\//, mode)
      const chosen = await send(`chosen.${mode.toLowerCase()}@one.test`, { tracking: true })
      assert.match(chosen.html, /\/t\/o\//, mode)
    }
    await sendInMode('ENABLED', (sent) => sent.includes('/t/o/'))
  })

  it('loses no click at a stop, and its links work after a restart', async () => {
    const { id, html } = await send('last@one.test')
    const [sale] = hrefs(html)
    assert.equal((await visit(sale)).status, 302)
    await program.stop()
    const row = await program.core.store.read.select().from(emails).where(eq(emails.id, id)).get()
    assert.equal(row?.clicks, 1)
    await program.start()
    assert.equal((await visit(sale)).status, 302)
  })
})
