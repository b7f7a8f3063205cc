/** Every link of the README and the guide leads somewhere, in the repository and on the server. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { GUIDE_TASKS } from '../../src/http/guide/guide-pages.ts'
import { useService } from '../http/service.ts'
import { type DocsPage, ROOT, readPage, readPages } from './pages.ts'

const pages = readPages()

describe('links between the files', () => {
  for (const page of pages) {
    it(`of ${page.file} lead to files and headings that exist`, () => {
      for (const link of page.links) assert.ok(isTarget(page, link), link)
    })
  }

  it('and the names of source files and folders are right', () => {
    const rooms =
      /^(?:src|test|migrations|scripts|store|features|jobs|formats|texts|http|cli|config)\/[\w./-]+$/
    const names = pages.flatMap(({ codeSpans }) => codeSpans.filter((text) => rooms.test(text)))
    assert.ok(names.length > 15)
    for (const name of names) {
      const places = [path.join(ROOT, name), path.join(ROOT, 'src', name)]
      assert.ok(
        places.some((place) => existsSync(place)),
        name,
      )
    }
  })

  it('reach every page from the README', () => {
    const { links } = readPage('README.md')
    for (const { file } of pages.slice(1)) {
      assert.ok(
        links.some((link) => link.startsWith(file)),
        file,
      )
    }
  })
})

describe('the guide on the server', () => {
  const { service } = useService()

  it('shows every page, and every link on a page leads to a page and a heading', async () => {
    const seen = new Map<string, string>()
    const get = async (address: string): Promise<string> => {
      const known = seen.get(address)
      if (known !== undefined) return known
      const response = await fetch(new URL(address, service.url), { redirect: 'manual' })
      assert.equal(response.status, 200, address)
      const body = await response.text()
      seen.set(address, body)
      return body
    }
    const pending = ['/docs/guide']
    const visited = new Set<string>()
    for (let address = pending.pop(); address !== undefined; address = pending.pop()) {
      if (visited.has(address)) continue
      visited.add(address)
      const html = await get(address)
      for (const [, href = ''] of html.matchAll(/<a href="([^"]*)"/g)) {
        if (href.startsWith('https://')) continue
        assert.doesNotMatch(href, /\.md/, `${address} links to ${href}`)
        const [target = '', anchor] = (href.startsWith('#') ? address + href : href).split('#')
        const body = await get(target)
        if (anchor !== undefined) assert.ok(body.includes(` id="${anchor}"`), `${address}: ${href}`)
        if (target.startsWith('/docs/guide')) pending.push(target)
      }
    }
    assert.equal(visited.size, pages.length)
  })

  it('is linked from the page of the API', async () => {
    const response = await fetch(new URL('/docs', service.url))
    const body = await response.text()
    for (const { file } of pages.slice(1)) {
      const name = path.basename(file, '.md')
      assert.ok(body.includes(`<a href="/docs/guide/${name}">`), name)
    }
    assert.match(body, /<a href="\/docs\/guide">/)
  })

  it('lists every page under one task', () => {
    const placed = GUIDE_TASKS.flatMap(({ names }) => names)
    const names = pages.slice(1).map(({ file }) => path.basename(file, '.md'))
    assert.deepEqual(placed.toSorted(), names.toSorted(), 'src/http/guide/guide-pages.ts')
  })

  it('carries the headers of the hosted pages and loads nothing', async () => {
    const response = await fetch(new URL('/docs/guide/contacts', service.url))
    assert.match(response.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    const body = await response.text()
    assert.match(body, /<title>Contacts<\/title>/)
    assert.match(body, /<h2 id="import">Import<\/h2>/)
    assert.doesNotMatch(body, /<img|src="/)
    const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(body) ?? []
    const digest = hash('sha256', script, 'base64')
    const policy = response.headers.get('content-security-policy') ?? ''
    assert.ok(script !== '' && policy.includes(`script-src 'sha256-${digest}'`))
    assert.match(body, /<a href="\/docs\/guide\/contacts" aria-current="page">Contacts<\/a>/)
    assert.match(body, /<a href="#import">Import<\/a>/)
  })

  it('refuses names that are no pages, paths included', async () => {
    for (const name of ['none', '..%2f..%2fpackage', 'contacts.md', '__proto__']) {
      const response = await fetch(new URL(`/docs/guide/${name}`, service.url))
      assert.equal(response.status, 404, name)
    }
  })
})

function isTarget(page: DocsPage, link: string): boolean {
  if (/^https:\/\//.test(link)) return true
  const [name = '', anchor] = link.split('#')
  const file = name === '' ? page.file : path.posix.join(path.posix.dirname(page.file), name)
  if (!existsSync(path.join(ROOT, file))) return false
  return anchor === undefined || readPage(file).anchors.has(anchor)
}
