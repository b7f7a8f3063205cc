/**
 * The guide: README.md and the pages of `src/docs`, each rendered at its first request and then cached.
 * The Markdown files link to each other by file names; here these links become addresses of the
 * guide.
 */
import { html, raw } from 'hono/html'
import { listAssets, readAsset } from '../../config/assets.ts'
import type { Html } from '../pages/phrase.ts'
import { renderMarkdown } from './render-markdown.ts'

type GuidePage = { title: string; content: Html }

type Guide = {
  /**
   * `name`: a file in `src/docs` without `.md`, or null for the README. Undefined for an unknown
   * name.
   */
  page(name: string | null): Promise<GuidePage> | undefined
}

const GUIDE_PATH = '/docs/guide'

const FOLDER = 'guide/pages'
const README = 'guide/README.md'

export function createGuide(): Guide {
  const pages = new Map<string, Promise<GuidePage>>()
  return {
    page: (name) => {
      const asset = name === null ? README : `${FOLDER}/${name}.md`
      const known = pages.get(asset)
      if (known !== undefined) return known
      if (name !== null && !listNames().includes(name)) return undefined
      const rendered = renderPage(asset)
      pages.set(asset, rendered)
      return rendered
    },
  }
}

async function renderPage(asset: string): Promise<GuidePage> {
  const markdown = readAsset(asset).toString('utf8')
  const page = await renderMarkdown(markdown, resolveLink)
  const links = listNames().map(
    (name) => html`<li><a href="${GUIDE_PATH}/${name}">${name.replaceAll('-', ' ')}</a></li>`,
  )
  const content = html`${raw(page.html)}
<nav><ul>
<li><a href="${GUIDE_PATH}">overview</a></li>
${links}
<li><a href="/docs">API</a></li>
</ul></nav>`
  return { title: page.title, content }
}

function listNames(): string[] {
  return listAssets(FOLDER).map((asset) => asset.slice(FOLDER.length + 1, -'.md'.length))
}

/** `contacts.md#import` and `src/docs/contacts.md` -> `/docs/guide/contacts`; other links stay. */
function resolveLink(href: string): string {
  const [, name, anchor = ''] = /^(?:\.\.\/\.\.\/|src\/docs\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  if (name === undefined) return href
  return name === 'README' ? `${GUIDE_PATH}${anchor}` : `${GUIDE_PATH}/${name}${anchor}`
}
