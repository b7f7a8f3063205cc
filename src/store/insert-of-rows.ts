/**
 * Inserts of many rows by one statement. The numbers of rows are powers of two, so that an insert has few
 * texts, which stay prepared.
 */

const MAX_ROWS = 64

/** How many of the next `left` rows to insert together. */
export function rowsPerInsert(left: number): number {
  return left >= MAX_ROWS ? MAX_ROWS : 2 ** Math.floor(Math.log2(left))
}

/**
 * `text`: an insert that ends with the values of one row, or with an `on conflict` clause without
 * parameters: each row brings its own parameters. The returned function throws a TypeError for any other
 * text, even for one row, so that a wrong text does not fail with many rows only.
 */
export function insertOfRows(text: string): (count: number) => string {
  let parts: string[] | undefined
  const texts = new Map<number, string>()
  return (count) => {
    const known = texts.get(count)
    if (known !== undefined) return known
    parts ??= /^(insert into [^()]*\([^()]*\) values )(\([^()]*\))( on conflict [^?]*)?$/s
      .exec(text)
      ?.slice(1)
    if (parts === undefined)
      throw new TypeError('The statement does not end with the values of one row.')
    const [start = '', row = '', end = ''] = parts
    const made = `${start}${row}${`, ${row}`.repeat(count - 1)}${end}`
    texts.set(count, made)
    return made
  }
}
