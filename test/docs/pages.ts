/** The README and the pages of `src/docs`: their links, anchors and code blocks. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { lexer, type Token, walkTokens } from 'marked'
import { createSlugs } from '../../src/http/guide/guide.ts'

type CodeBlock = { language: string; text: string }

export type DocsPage = {
  /** Below the repository's root. */
  file: string
  text: string
  links: string[]
  anchors: ReadonlySet<string>
  blocks: CodeBlock[]
  /** Texts in backticks. */
  codeSpans: string[]
  /** Characters after a backslash, outside code. */
  escapes: string[]
}

export const ROOT = path.join(import.meta.dirname, '../..')

export function readPages(): DocsPage[] {
  const files = ['README.md', ...globSync('src/docs/*.md', { cwd: ROOT }).sort()]
  return files.map(readPage)
}

export function readPage(file: string): DocsPage {
  const text = readFileSync(path.join(ROOT, file), 'utf8')
  const links: string[] = []
  const anchors = new Set<string>()
  const blocks: CodeBlock[] = []
  const codeSpans: string[] = []
  const escapes: string[] = []
  const slugs = createSlugs()
  walkTokens(lexer(text), (token: Token) => {
    if (token.type === 'link') links.push(token.href)
    if (token.type === 'heading') anchors.add(slugs(token.text))
    if (token.type === 'codespan') codeSpans.push(token.text)
    if (token.type === 'escape') escapes.push(token.text)
    if (token.type === 'code') blocks.push({ language: token.lang ?? '', text: token.text })
  })
  return { file, text, links, anchors, blocks, codeSpans, escapes }
}
