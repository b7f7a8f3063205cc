/**
 * The design tokens of the dashboard, for pages that are not part of it. Readers of mail have browsers of any
 * age, so a page gets the value of each colour scheme, and not `light-dark()`.
 */
import { readAsset } from '../../config/assets.ts'

const COMMENT = /\/\*[\s\S]*?\*\//g
/** The two colours of a value: that of a light page, then that of a dark one. */
const PAIR = /^light-dark\(([^(),]+), ([^(),]+)\)$/

/**
 * The rules that give the tokens which `sheet` names their values, and a reader in the dark those of the dark.
 * @throws TypeError for a token that does not exist
 */
export function tokenRules(sheet: string): string {
  const tokens = readTokens()
  const names = [...new Set(sheet.matchAll(/var\((--[\w-]+)\)/g).map(([, name = '']) => name))]
  const values = names.sort().map((name) => {
    const value = tokens.get(name)
    if (value === undefined) throw new TypeError(`${name} is no token`)
    return { name, light: value.replace(PAIR, '$1'), dark: value.replace(PAIR, '$2') }
  })
  const light = values.map(({ name, light }) => `  ${name}: ${light};\n`)
  const dark = values.flatMap(({ name, light, dark }) =>
    light === dark ? [] : [`    ${name}: ${dark};\n`],
  )
  return `
:root {
  color-scheme: light dark;
${light.join('')}}
@media (prefers-color-scheme: dark) {
  :root {
${dark.join('')}  }
}
`
}

/** The properties of the first rule of the dashboard's tokens. */
function readTokens(): Map<string, string> {
  const text = readAsset('pages/tokens.css').toString('utf8').replace(COMMENT, '')
  const start = text.indexOf(':root {')
  const rule = text.slice(start, text.indexOf('}', start))
  const properties = rule.slice(rule.indexOf('{') + 1).split(';')
  return new Map(
    properties.map((property) => {
      const at = property.indexOf(':')
      return [property.slice(0, at).trim(), property.slice(at + 1).trim()]
    }),
  )
}
