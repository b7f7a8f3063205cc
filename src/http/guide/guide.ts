/**
 * The guide: README.md and the pages of `src/docs`, each rendered at its first request and then cached.
 * The Markdown files link to each other by file names; here these links become addresses of the
 * guide. Each page has the list of all pages by task, and its own contents.
 */
import { html, raw } from 'hono/html'
import { escapeHtml } from '../../formats/template/characters.ts'
import type { Html } from '../pages/phrase.ts'
import { addressOf, type GuideList, listGuide, listPageNames, readPage } from './guide-pages.ts'

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

/** `content`: HTML without links. */
type Heading = { slug: string; content: string }

/** `sections`: the headings of the second level. */
type RenderedPage = { title: string; html: string; sections: Heading[] }

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

/**
 * Turns a page of the guide from Markdown into HTML. Headings get the ids that GitHub gives them, so
 * that the same anchors work in the repository and here. HTML in the Markdown is shown as text.
 *
 * `resolveLink` turns a link of the page into an address that this server has.
 */
async function renderMarkdown(
  markdown: string,
  resolveLink: (href: string) => string,
): Promise<RenderedPage> {
  const { Marked } = await import('marked')
  const slugs = createSlugs()
  let title = ''
  const sections: Heading[] = []
  const marked = new Marked({
    walkTokens: (token) => {
      if (token.type === 'link') token.href = resolveLink(token.href)
    },
    renderer: {
      heading({ tokens, depth, text }) {
        if (depth === 1 && title === '') title = text
        const slug = slugs(text)
        const content = this.parser.parseInline(tokens)
        if (depth === 2) sections.push({ slug, content: content.replace(/<\/?a\b[^<>]*>/g, '') })
        return `<h${depth} id="${slug}">${content}</h${depth}>\n`
      },
      // On narrow windows a row is a block, in which each cell has the name of its column.
      table({ header, rows }) {
        const heads = header.map(({ tokens }) => this.parser.parseInline(tokens))
        const names = header.map(({ text }) => escapeHtml(text.replaceAll('`', '')))
        const cells = rows.map((row) =>
          row.map(({ tokens }, at) => {
            const name = names[at] ? ` data-name="${names[at]}"` : ''
            return `<td${name}>${this.parser.parseInline(tokens)}</td>`
          }),
        )
        const head = heads.map((content) => `<th>${content}</th>`).join('')
        const body = cells.map((row) => `<tr>${row.join('')}</tr>\n`).join('')
        return `<table>\n<thead>\n<tr>${head}</tr>\n</thead>\n<tbody>${body}</tbody></table>\n`
      },
      html: ({ text }) => escapeHtml(text),
    },
  })
  const html = await marked.parse(markdown)
  return { title, html, sections }
}

/** Returns the id of each heading of a page; repeated headings get a number. */
export function createSlugs(): (heading: string) => string {
  const counts = new Map<string, number>()
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}

/**
 * The script of the guide: a button that copies each block of code. Without scripts, or in a browser that copies
 * only over HTTPS, there are no buttons.
 */
export const GUIDE_SCRIPT = `
if (navigator.clipboard) {
  for (const block of document.querySelectorAll('pre')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      const copied = await navigator.clipboard.writeText(block.textContent.replace(/\\n$/, '')).then(() => true, () => false)
      button.textContent = copied ? 'Copied' : 'Not copied'
      setTimeout(() => { button.textContent = 'Copy' }, 2000)
    })
    const frame = document.createElement('div')
    frame.className = 'code'
    block.replaceWith(frame)
    frame.append(block, button)
  }
}
`

/**
 * The style of the guide, added to the style sheet of the hosted pages: the list of pages, wide text, tables,
 * code. In a window of less than 60 em the list is folded above the page; of less than 40 em, each row of a
 * table is a block.
 */
export const GUIDE_STYLE = `
main { max-width: 56rem; min-width: 0; }
h2 { margin: 2.25rem 0 .5rem; font-size: 1.3125rem; }
h3 { margin: 1.5rem 0 .5rem; font-size: 1.0625rem; }
ul, ol { margin: 0 0 1rem; padding-left: 1.5rem; }
table { display: block; overflow-x: auto; margin: 0 0 1.25rem; border-collapse: collapse; overflow-wrap: normal; }
th, td { padding: .4375rem 1rem .4375rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
code { padding: .1em .3em; border-radius: .25rem; background: var(--ground); font: .9em/1.4 var(--mono); }
pre { overflow-x: auto; margin: 0 0 1.25rem; }
pre code { padding: 0; background: none; white-space: pre-wrap; overflow-wrap: anywhere; }
pre code.language-text { white-space: pre; overflow-wrap: normal; }
.code { position: relative; }
.code pre { padding-top: 2.75rem; }
button.copy { position: absolute; top: 0; right: 0; width: auto; min-width: 4.5rem; min-height: 2.75rem; padding: .25rem .875rem; border: 0; background: transparent; color: var(--accent); font-size: .9375rem; }
summary { display: flex; align-items: center; min-height: 2.75rem; font-weight: 600; color: var(--accent); cursor: pointer; }
summary::before { content: '+'; width: 1.25rem; }
[open] > summary::before { content: '-'; }
.pages h2 { margin: 1.25rem 0 0; font-size: .9375rem; }
.pages ul, .contents ul { display: block; margin: 0; }
.pages nav, .contents nav { margin: 0; border: 0; }
.pages a, .contents a { display: flex; padding: 0 .625rem; border-radius: var(--radius); text-decoration: none; }
.pages a:hover, .contents a:hover { text-decoration: underline; }
.pages a[aria-current] { background: var(--tint); color: var(--text); font-weight: 600; }
.contents { margin: 0 0 1rem; border-bottom: 1px solid var(--line); }
nav.pages { display: none; margin: 0; border: 0; }
details.pages { max-width: 56rem; margin: 0 auto 1rem; padding: .25rem 1rem; border: 1px solid var(--line); border-radius: var(--radius-l); background: var(--surface); }
@media (max-width: 40em) {
  body { padding: 1rem .5rem 2rem; }
  main { padding: 1.75rem 1rem 1rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, td { display: block; overflow-wrap: anywhere; }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td { padding: .125rem 0; border: 0; }
  td:empty { display: none; }
  td[data-name]::before { content: attr(data-name) ': '; font-weight: 600; color: var(--muted); }
}
@media (min-width: 60em) {
  body { display: grid; grid-template-columns: 15rem minmax(0, 56rem); column-gap: 2rem; justify-content: center; align-items: start; padding-top: 2rem; }
  details.pages { display: none; }
  nav.pages { display: block; position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow-y: auto; padding: 0 .25rem 1rem; }
  nav.pages h2:first-child { margin-top: 0; }
}
@media (min-width: 60em) and (pointer: fine) { .pages a, .contents a { min-height: 2rem; } }
@media (min-height: 40rem) and (min-width: 30rem) { body { padding-top: 2rem; } }
`
