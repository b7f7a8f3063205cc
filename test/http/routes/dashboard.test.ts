/** How the dashboard is served. `npm test` builds it first. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { before, describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { findManifest } from '../../../src/http/dashboard/files.ts'
import { startService, useService } from '../service.ts'

const { service } = useService()

type Answer = { status: number; headers: IncomingMessage['headers']; body: Buffer }
type Asked = { method?: string; headers?: Record<string, string>; url?: string }

/** As a browser asks, without what `fetch` adds or decodes. */
async function ask(
  path: string,
  { method = 'GET', headers = {}, url = service.url }: Asked = {},
): Promise<Answer> {
  const { hostname, port } = new URL(url)
  const sent = request({ host: hostname, port, method, path, headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const body = await buffer(response)
  return { status: response.statusCode ?? 0, headers: response.headers, body }
}

const APP_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
  "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types ProseMirrorClipboard"

let files: readonly string[]
let script: string

before(() => {
  files = findManifest()?.files ?? []
  assert.ok(files.length > 0, 'build the dashboard first: npm run dashboard')
  script = files.find((name) => /^login-\w+\.js$/.test(name)) ?? ''
})

/** The files that a page names, in its order. */
function namesIn(page: Buffer): string[] {
  return [...page.toString().matchAll(/(?:src|href)="[^"]*\/app\/assets\/([^"]+)"/g)].map(
    ([, name = '']) => name,
  )
}

/** Answers that the page asks for, below the path of `baseUrl`. */
const CALLS = ['/mail/config']

describe('the page of the dashboard', () => {
  it('has the policy of the app, and nobody may frame it or see where it leads', async () => {
    const { status, headers, body } = await ask('/app')
    assert.equal(status, 200)
    assert.equal(headers['content-security-policy'], APP_POLICY)
    assert.deepEqual(
      [
        ...['content-type', 'cache-control', 'x-content-type-options', 'referrer-policy'],
        ...['cross-origin-opener-policy', 'cross-origin-resource-policy', 'x-robots-tag'],
      ].map((name) => headers[name]),
      [
        ...['text/html; charset=utf-8', 'no-cache', 'nosniff', 'no-referrer'],
        ...['same-origin', 'same-origin', 'noindex, nofollow'],
      ],
    )
    const permissions = String(headers['permissions-policy']).split(', ')
    assert.ok(permissions.length > 15 && permissions.every((one) => /^[a-z-]+=\(\)$/.test(one)))
    const text = body.toString()
    assert.doesNotMatch(
      text,
      /<script(?! type="application\/json" )(?![^>]*\ssrc=)|\son\w+=|\sstyle=|<style/,
    )
    assert.doesNotMatch(text, /\{\{|https?:/)
  })

  it('names the scripts of the screen at its address, and needs no session', async () => {
    const first = namesIn((await ask('/app')).body)
    assert.equal(first.length, 3)
    const screens = {
      ...{ '/app/': [], '/app/login?error=<b>': ['login'], '/app/me': ['account', 'combobox'] },
      ...{ '/app/0199a7c0': ['overview', 'chart'], '/app/0199a7c0/emails/1': ['email'] },
      ...{ '/app/0199a7c0/emails': ['emails'], '/app/0199a7c0/emails/': ['emails'] },
      ...{ '/app/0199a7c0/emails/1/2': [], '/app/%2e%2e%2flogin/x/y/z': [] },
    }
    for (const [path, wanted] of Object.entries(screens)) {
      const shown = await ask(path, { headers: { cookie: 'pillarbox_session=wrong' } })
      assert.equal(shown.status, 200, path)
      assert.equal(shown.headers['set-cookie'], undefined)
      const own = namesIn(shown.body).filter((name) => !first.includes(name))
      const named = own.map((name) => name.split('-')[0]).filter((name) => name !== 'chunk')
      assert.deepEqual(named.toSorted(), wanted.toSorted(), path)
      assert.equal(own.length === 0, wanted.length === 0, path)
    }
  })

  it('is sent again only if it has changed', async () => {
    const { headers } = await ask('/app')
    const etag = String(headers.etag)
    assert.match(etag, /^"[0-9a-f]{32}"$/)
    const same = await ask('/app/', { headers: { 'if-none-match': etag } })
    assert.deepEqual([same.status, same.body.length, same.headers.etag], [304, 0, etag])
    assert.equal(same.headers['content-security-policy'], APP_POLICY)
    // A proxy that compresses the page makes its tag weak.
    for (const known of [`W/${etag}`, `"0", ${etag}`, '*']) {
      const { status } = await ask('/app', { headers: { 'if-none-match': known } })
      assert.equal(status, 304, known)
    }
    const frame = await ask('/app/frame')
    const again = { headers: { 'if-none-match': String(frame.headers.etag) } }
    assert.equal((await ask('/app/frame', again)).status, 304)
    const other = await ask('/app', { headers: { 'if-none-match': '"0"' } })
    assert.equal(other.status, 200)
  })

  it('answers HEAD without a body', async () => {
    const { status, headers, body } = await ask('/app', { method: 'HEAD' })
    assert.deepEqual([status, body.length], [200, 0])
    assert.equal(headers['content-security-policy'], APP_POLICY)
  })

  it('names files that exist, below the path of base_url', async () => {
    const below = await startService({ baseUrl: 'https://pillarbox.test/mail' })
    try {
      const { body } = await ask('/app/login', { url: below.url })
      const paths = [...body.toString().matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(
        ([, at = '']) => at,
      )
      assert.ok(paths.length >= 4)
      for (const path of paths.filter((path) => !CALLS.includes(path))) {
        const [, name = ''] = /^\/mail\/app\/assets\/([\w.-]+)$/.exec(path) ?? []
        assert.ok(files.includes(name), path)
      }
    } finally {
      await below.stop()
    }
  })

  it('asks for the first answers along with its files, and for those of a user if there may be a session', async () => {
    const first = async (cookie?: string) => {
      const headers: Record<string, string> = cookie === undefined ? {} : { cookie }
      const { body } = await ask('/app/login', { headers })
      const links = body
        .toString()
        .matchAll(/<link rel="preload" as="fetch" crossorigin href="(.*?)">/g)
      return [...links].map(([, path]) => path)
    }
    assert.deepEqual(await first(), ['/config'])
    assert.deepEqual(await first('pillarbox_device=x'), ['/config'])
    const known = ['/config', '/users/@me', '/users/@me/projects']
    assert.deepEqual(await first('pillarbox_session=x'), known)
  })

  it('S38: is refused for the host of others', async () => {
    for (const path of ['/app', '/app/login', `/app/assets/${script}`, '/app/frame']) {
      const { status, body } = await ask(path, { headers: { host: 'evil.test' } })
      assert.deepEqual(
        [status, JSON.parse(body.toString()).error.code],
        [...[421, 'MISDIRECTED_REQUEST']],
      )
    }
  })
})

describe('a file of the dashboard', () => {
  it('stays in the caches of browsers for good, because its name changes with it', async () => {
    for (const name of [script, files.find((one) => one.endsWith('.css')) ?? '']) {
      const { status, headers, body } = await ask(`/app/assets/${name}`)
      assert.equal(status, 200)
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.match(String(headers['content-type']), /^text\/(?:javascript|css); charset=utf-8$/)
      assert.equal(headers['content-encoding'], undefined)
      assert.ok(body.length > 100)
    }
  })

  it('comes as its twin in the coding that the browser takes', async () => {
    const path = `/app/assets/${script}`
    const plain = await ask(path)
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync }
    for (const [coding, decode] of Object.entries(decoders)) {
      const { headers, body } = await ask(path, { headers: { 'accept-encoding': coding } })
      assert.equal(headers['content-encoding'], coding)
      assert.match(String(headers.vary), /accept-encoding/i)
      assert.ok(body.length < plain.body.length)
      assert.deepEqual(decode(body), plain.body)
    }
    const both = await ask(path, { headers: { 'accept-encoding': 'gzip, deflate, br' } })
    assert.equal(both.headers['content-encoding'], 'br')
    const chosen = {
      ...{ 'br;q=0, gzip;q=0': undefined, 'br;q=0, *': 'gzip', '*': 'br', '*;q=0': undefined },
      ...{ identity: undefined, 'gzip;q=0.5, br;q=0.1': 'gzip', BR: 'br', deflate: undefined },
    }
    for (const [accepted, coding] of Object.entries(chosen)) {
      const { headers, body } = await ask(path, { headers: { 'accept-encoding': accepted } })
      assert.equal(headers['content-encoding'], coding, accepted)
      assert.equal(headers['content-length'], String(body.length))
      assert.match(String(headers.vary), /accept-encoding/i)
    }
    const headers = { 'accept-encoding': 'br' }
    const head = await ask(path, { method: 'HEAD', headers })
    const got = await ask(path, { headers })
    assert.equal(head.headers['content-length'], got.headers['content-length'])
    assert.equal(head.headers['content-encoding'], 'br')
    // A part of a file is not served: the answer is the whole one (RFC 9110, section 14.2).
    const part = await ask(path, { headers: { range: 'bytes=0-9' } })
    assert.deepEqual([part.status, part.body.length], [200, plain.body.length])
    assert.equal(part.headers['content-range'], undefined)
  })

  it('whose name stays is asked for again, because it may have changed', async () => {
    const { headers } = await ask('/app/assets/licences.txt')
    assert.equal(headers['cache-control'], 'no-cache')
    const known = { 'if-none-match': String(headers.etag) }
    assert.equal((await ask('/app/assets/licences.txt', { headers: known })).status, 304)
  })

  it('that does not exist is a 404, and never the page or another file', async () => {
    const names = [
      ...['main.js', `${script}.map`, `${script}.br`, 'manifest.json', 'index.html', ''],
      ...['..%2f..%2fpackage.json', '..%2fmanifest.json', 'toString', `${script}/`],
    ]
    for (const name of names) {
      const { status, headers, body } = await ask(`/app/assets/${name}`)
      // Without a name the address is that of a screen.
      const expected = name === '' ? 200 : 404
      assert.equal(status, expected, name)
      if (name === '') continue
      assert.doesNotMatch(String(headers['cache-control']), /immutable/)
      assert.doesNotMatch(body.toString(), /<html|"dependencies"/)
    }
  })

  it('answers HEAD without a body, and shows the licences of what is bundled', async () => {
    const head = await ask(`/app/assets/${script}`, { method: 'HEAD' })
    assert.deepEqual([head.status, head.body.length], [200, 0])
    const { status, body } = await ask('/app/assets/licences.txt')
    assert.equal(status, 200)
    assert.match(body.toString(), /preact/)
  })
})

describe('the frame of one mail', () => {
  const images = { '/app/frame': 'data:', '/app/frame-images': "data: https: 'self'" }

  it('runs its one script in a sandbox, and loads nothing but the images that were asked for', async () => {
    for (const [path, sources] of Object.entries(images)) {
      const { status, headers, body } = await ask(path)
      assert.equal(status, 200)
      const policy = String(headers['content-security-policy']).split('; ')
      const [hashed = ''] = policy.filter((one) => one.startsWith('script-src '))
      assert.match(hashed, /^script-src 'sha256-[\w+/]{43}='$/)
      assert.deepEqual(
        policy.filter((one) => one !== hashed),
        [
          ...['sandbox allow-scripts', "default-src 'none'", "style-src 'unsafe-inline'"],
          ...[`img-src ${sources}`, "form-action 'none'", "base-uri 'none'"],
          "frame-ancestors 'self'",
        ],
      )
      assert.equal(headers['x-frame-options'], 'SAMEORIGIN')
      assert.equal(body.toString().split('<script').length, 2)
    }
  })

  it('is not to be framed anywhere else, as the page itself', async () => {
    assert.equal((await ask('/app')).headers['x-frame-options'], 'DENY')
  })
})
