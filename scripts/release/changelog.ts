/** Sections of the changelog: `## Unreleased`, and `## 1.2.0 (2026-12-01)` for each version, newest first. */

const UNRELEASED = 'Unreleased'
const RELEASED = /^(\S+) \((\d{4}-\d{2}-\d{2})\)$/

type Section = { title: string; text: string }

/**
 * Returns the text below the heading of a version. `changelog`: Markdown.
 *
 * @throws Error if the section is missing, empty or without a date, or changes stand under "Unreleased"
 */
export function findNotes(changelog: string, version: string): string {
  const sections = listSections(changelog)
  const section = sections.find(({ title }) => title.split(' ', 1)[0] === version)
  if (section === undefined) throw new Error(`the changelog has no section "${version} (DATE)"`)
  if (!RELEASED.test(section.title)) {
    throw new Error(`the changelog has "${section.title}" and not "${version} (DATE)"`)
  }
  if (section.text === '') throw new Error(`the changelog says nothing about ${version}`)
  const waiting = sections.find(({ title }) => title === UNRELEASED)
  if (waiting !== undefined && waiting.text !== '') {
    throw new Error(`the changelog has changes under "${UNRELEASED}": move them to ${version}`)
  }
  return section.text
}

export function listSections(changelog: string): Section[] {
  const [, ...parts] = `\n${changelog}`.split(/\n## /)
  return parts.map((part) => {
    const [title = '', ...lines] = part.split('\n')
    return { title: title.trim(), text: lines.join('\n').trim() }
  })
}
