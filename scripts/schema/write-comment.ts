const LINE_WIDTH = 100

/** A comment above a declaration, in one line or wrapped at 100 columns; `text` may have several lines. */
export function writeComment(text: string | undefined, indent = ''): string {
  if (text === undefined) return ''
  const line = `${indent}/** ${text} */`
  if (line.length <= LINE_WIDTH && !text.includes('\n')) return `${line}\n`
  const prefix = `${indent} * `
  const lines = text.split('\n').flatMap((paragraph) => wrap(paragraph, LINE_WIDTH - prefix.length))
  return `${indent}/**\n${lines.map((each) => `${prefix}${each}\n`).join('')}${indent} */\n`
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
