/**
 * Turns a page of the guide from Markdown into HTML. Headings get the ids that GitHub gives them, so
 * that the same anchors work in the repository and here. HTML in the Markdown is shown as text.
 */
import { escapeHtml } from '../../formats/template/characters.ts'

/** `content`: HTML without links. */
export type Heading = { slug: string; content: string }

/** `sections`: the headings of the second level. */
type RenderedPage = { title: string; html: string; sections: Heading[] }

/** `resolveLink` turns a link of the page into an address that this server has. */
export async function renderMarkdown(
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
