/** Finds the regular expressions in source texts: literals, and the places that build one at run time. */
import { parse } from '@babel/parser'

export type FoundRegex = { file: string; line: number; regex: RegExp }
export type BuildingPlace = { file: string; line: number }

type SyntaxNode = {
  type: string
  loc: { start: { line: number } }
  [key: string]: unknown
}

/** Methods that build a regular expression of a string. */
const SEARCHES = new Set(['match', 'matchAll', 'search'])

/** Comments and imports, which are most of the slashes, by line. */
const SLASHES_OF_TEXT = /^ *(?:\/?\*|\/\/|import ).*|from '.*'/gm

export function findRegexes(file: string, source: string) {
  const literals: FoundRegex[] = []
  const places: BuildingPlace[] = []
  const code = source.replace(SLASHES_OF_TEXT, '')
  if (!code.includes('/') && !/RegExp|\b(?:match|matchAll|search)\(/.test(code)) {
    return { literals, places }
  }
  const visit = (node: SyntaxNode): void => {
    const { line } = node.loc.start
    if (node.type === 'RegExpLiteral') {
      literals.push({ file, line, regex: new RegExp(String(node.pattern), String(node.flags)) })
    }
    if (buildsRegex(node)) places.push({ file, line })
    for (const key in node) visitAny(node[key])
  }
  const visitAny = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) for (const one of value) visitAny(one)
    else if ('loc' in value && 'type' in value) visit(value as SyntaxNode)
  }
  visit(parse(source, { sourceType: 'module', plugins: ['typescript'] }).program as never)
  return { literals, places }
}

/** Whether the node calls the constructor, or searches for a string as a pattern. */
function buildsRegex(node: SyntaxNode): boolean {
  if (!node.type.endsWith('CallExpression') && node.type !== 'NewExpression') return false
  const callee = node.callee as SyntaxNode
  if (callee.name === 'RegExp') return true
  if (callee.type !== 'MemberExpression' && callee.type !== 'OptionalMemberExpression') return false
  const [pattern] = node.arguments as SyntaxNode[]
  const isText = pattern?.type === 'StringLiteral' || pattern?.type === 'TemplateLiteral'
  return isText && SEARCHES.has(String((callee.property as SyntaxNode).name))
}
