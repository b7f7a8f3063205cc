/**
 * The guide: README.md and the pages of `src/docs`, each rendered at its first request and then cached.
 * The Markdown files link to each other by file names; here these links become addresses of the
 * guide. Each page has the list of all pages by task, and its own contents.
 */
import { html, raw } from 'hono/html'
import type { Html } from '../pages/phrase.ts'
import { addressOf, type GuideList, listGuide, listPageNames, readPage } from './guide-pages.ts'
import { type Heading, renderMarkdown } from './render-markdown.ts'

type GuidePage = { title: string; content: Html; side: Html }

type Guide = {
  /**
   * `name`: a file in `src/docs` without `.md`, or null for the README. Undefined for an unknown
   * name.
   */
  page(name: string | null): Promise<GuidePage> | undefined
}

const TITLE_END = '</h1>\n'
/** A page with fewer sections needs no contents. */
const MIN_SECTIONS = 3

export function createGuide(): Guide {
  const pages = new Map<string | null, Promise<GuidePage>>()
  return {
    page: (name) => {
      const known = pages.get(name)
      if (known !== undefined) return known
      if (name !== null && !listPageNames().includes(name)) return undefined
      const rendered = renderPage(name)
      pages.set(name, rendered)
      return rendered
    },
  }
}

async function renderPage(name: string | null): Promise<GuidePage> {
  const { title, html: body, sections } = await renderMarkdown(readPage(name), resolveLink)
  const end = body.indexOf(TITLE_END) + TITLE_END.length
  const [heading, rest] = [body.slice(0, end), body.slice(end)]
  const content = html`${raw(heading)}${showContents(sections)}${raw(rest)}`
  return { title, content, side: showSide(listGuide(), addressOf(name)) }
}

/** The list stands twice: at the side of a wide window, and folded above the page of a narrow one. */
function showSide(list: GuideList, current: string): Html {
  const links = list.map(
    ({ title, pages }) => html`<h2>${title}</h2>
<ul>
${pages.map(({ href, title }) => html`<li>${showLink(href, { title, isCurrent: href === current })}</li>\n`)}</ul>
`,
  )
  return html`<nav class="pages" aria-label="Guide">${links}</nav>
<details class="pages"><summary>Pages of the guide</summary><nav aria-label="Guide">${links}</nav></details>
`
}

function showLink(href: string, { title, isCurrent }: { title: string; isCurrent: boolean }): Html {
  return isCurrent
    ? html`<a href="${href}" aria-current="page">${title}</a>`
    : html`<a href="${href}">${title}</a>`
}

function showContents(sections: readonly Heading[]): Html | '' {
  if (sections.length < MIN_SECTIONS) return ''
  const items = sections.map(
    ({ slug, content }) => html`<li><a href="#${slug}">${raw(content)}</a></li>\n`,
  )
  return html`<details class="contents"><summary>On this page</summary><nav aria-label="On this page"><ul>
${items}</ul></nav></details>
`
}

/** `contacts.md#import` and `src/docs/contacts.md` -> `/docs/guide/contacts`; other links stay. */
function resolveLink(href: string): string {
  const [, name, anchor = ''] = /^(?:\.\.\/\.\.\/|src\/docs\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  return name === undefined ? href : `${addressOf(name === 'README' ? null : name)}${anchor}`
}
