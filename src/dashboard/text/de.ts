/** German. The type checker refuses a missing key and one too many. */
import type { Forms } from '../logic/fill.ts'
import { account } from './de/account.ts'
import { activity } from './de/activity.ts'
import { chart } from './de/chart.ts'
import { checks } from './de/checks.ts'
import { classes } from './de/classes.ts'
import { combobox } from './de/combobox.ts'
import { door } from './de/door.ts'
import { emails } from './de/emails.ts'
import { first } from './de/first.ts'
import { form } from './de/form.ts'
import { keys } from './de/keys.ts'
import { list } from './de/list.ts'
import { overview } from './de/overview.ts'
import { palette } from './de/palette.ts'
import { parts } from './de/parts.ts'
import { reasons } from './de/reasons.ts'
import { resettingTexts } from './de/resetting.ts'
import { setup } from './de/setup.ts'
import { shell } from './de/shell.ts'
import { spoken } from './de/spoken.ts'
import { story } from './de/story.ts'
import { suppress } from './de/suppress.ts'
import { tray } from './de/tray.ts'
import { view } from './de/view.ts'
import type { en } from './en.ts'

export const de: Record<keyof typeof en, string | Forms> = {
  ...{ ...shell, ...palette, ...door, ...form, ...list, ...setup, ...overview, ...first },
  ...{ ...checks, ...chart, ...emails, ...story, ...reasons, ...classes, ...activity, ...account },
  ...spoken,
  ...{ ...suppress, ...view, ...parts, ...combobox, ...resettingTexts, ...tray, ...keys },
}
