/** How a person sees a list: its columns, and pages or one long table. This browser keeps it for each user. */
import { useMemo, useRef, useState } from 'preact/hooks'
import { user } from '../api/session.ts'
import {
  type Arrangement,
  arrange,
  readArrangement,
  usual,
  writeArrangement,
} from '../logic/columns.ts'
import { keep, readKept } from '../logic/storage.ts'
import type { Column } from './table.tsx'

export type ListView<Row> = {
  /** All columns that the list has. */
  all: readonly Column<Row>[]
  /** Those that are shown, in their order. */
  columns: readonly Column<Row>[]
  arrangement: Arrangement
  /** `isPassing`: it is shown only, since the next one follows at once. */
  change(how: (now: Arrangement) => Arrangement, isPassing?: boolean): void
  /** In pages, without endless scrolling. */
  isPaged: boolean
  setPaged(isPaged: boolean): void
}

/** `list`: its name in the storage. */
export function useListView<Row>(list: string, all: readonly Column<Row>[]): ListView<Row> {
  const owner = user.value?.id ?? ''
  const columnsKey = `pillarbox.columns.${owner}.${list}`
  const pagesKey = `pillarbox.pages.${owner}`
  const [arrangement, setArrangement] = useState(() => readArrangement(readKept(columnsKey), all))
  const latest = useRef(arrangement)
  const [isPaged, setPaged] = useState(readKept(pagesKey) === 'on')
  const columns = useMemo(() => arrange(all, arrangement), [all, arrangement.shown])
  return {
    all,
    columns,
    arrangement,
    change: (how, isPassing = false) => {
      const wanted = how(latest.current)
      latest.current = wanted
      setArrangement(wanted)
      if (isPassing) return
      const text = writeArrangement(wanted)
      keep(columnsKey, text === writeArrangement(usual(all)) ? undefined : text)
    },
    isPaged,
    setPaged: (wanted) => {
      setPaged(wanted)
      keep(pagesKey, wanted ? 'on' : undefined)
    },
  }
}
