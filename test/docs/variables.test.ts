/** A reader pastes the blocks of a page in their order: each variable has its value by then. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type DocsPage, readPages } from './pages.ts'

it('a variable in a block of shell is set by a block before, or the text before says what it is', () => {
  for (const page of readPages()) assert.deepEqual(unsetVariables(page), [], page.file)
})

it('a printed line sets nothing, and neither does a block that comes later', () => {
  const printed = ['echo "EMAIL_ID=1"', 'show "$EMAIL_ID"']
  assert.deepEqual(unsetVariables({ text: printed.join('\n'), blocks: printed.map(shell) }), [
    'EMAIL_ID',
  ])
  const late = ['show "$EMAIL_ID"', 'EMAIL_ID=1']
  assert.deepEqual(unsetVariables({ text: late.join('\n'), blocks: late.map(shell) }), ['EMAIL_ID'])
  const named = ['show "$EMAIL_ID"']
  const text = `The answer has \`$EMAIL_ID\`.\n${named[0]}`
  assert.deepEqual(unsetVariables({ text, blocks: named.map(shell) }), [])
})

const shell = (text: string) => ({ language: 'sh', text })

/** The key that the first start shows is introduced once, by the README. */
const KNOWN = ['PILLARBOX_KEY']

/** A text with a quoted end, in which the shell replaces nothing. */
const VERBATIM = /<<'(\w+)'[\s\S]*?^\1$/gm

function unsetVariables({ text, blocks }: Pick<DocsPage, 'text' | 'blocks'>): string[] {
  const set = new Set(KNOWN)
  const unset: string[] = []
  for (const block of blocks) {
    if (block.language !== 'sh') continue
    const shellText = block.text.replaceAll(VERBATIM, '')
    for (const name of assignedIn(shellText)) set.add(name)
    const before = text.slice(0, text.indexOf(block.text))
    for (const [, name = ''] of shellText.matchAll(/\$\{?([A-Za-z_]\w*)/g))
      if (!set.has(name) && !before.includes(`\`$${name}\``)) unset.push(name)
  }
  return unset
}

/** At the start of a command, as `until ID=…` or `NAME=value program` has it. */
function assignedIn(block: string): string[] {
  const commands =
    /(?:^|[;&|]) *(?:(?:until|while|if|export) )?([A-Za-z_]\w*)=|\bread (\w+)|\bfor (\w+) in/gm
  return [...block.matchAll(commands)].map((found) => found[1] ?? found[2] ?? found[3] ?? '')
}
