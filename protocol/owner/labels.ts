/** Labels of a batch: `key=value`, one value a key. What people and scripts tell batches apart by. */

/** Of one batch; and of one selection or change. */
export const LABELS_MAX = 16
const KEY = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/
const VALUE = /^[A-Za-z0-9._:@/+-]{0,63}$/

/** Why it is no label, for the person who wrote it; undefined when it is one. */
export function labelFault(label: string): string | undefined {
  const key = labelKey(label)
  if (key === label || !KEY.test(key) || !VALUE.test(label.slice(key.length + 1)))
    return `${JSON.stringify(label.slice(0, 130))} is not a label: key=value, of letters, digits and . _ - / (in the value also : @ +), 63 of them at most each`
  return undefined
}

/** All labels of a batch together. */
export function labelsFault(labels: readonly string[]): string | undefined {
  if (labels.length > LABELS_MAX) return `a batch has at most ${LABELS_MAX} labels, not ${labels.length}`
  const fault = labels.map(labelFault).find((found) => found !== undefined)
  if (fault !== undefined) return fault
  const keys = labels.map(labelKey)
  const twice = keys.find((key, index) => keys.indexOf(key) !== index)
  return twice === undefined ? undefined : `the label ${twice} is given twice`
}

/** Why it changes no label; undefined when it does: `key=value` sets one, `key-` takes it away. */
export function labelChangeFault(change: string): string | undefined {
  return change.endsWith('-') && KEY.test(change.slice(0, -1)) ? undefined : labelFault(change)
}

/** The labels after the changes, in the order of their keys. */
export function changedLabels(labels: readonly string[], changes: readonly string[]): string[] {
  const byKey = new Map(labels.map((label) => [labelKey(label), label]))
  for (const change of changes) {
    if (change.includes('=')) byKey.set(labelKey(change), change)
    else byKey.delete(change.slice(0, -1))
  }
  return [...byKey.values()].sort()
}

function labelKey(label: string): string {
  const at = label.indexOf('=')
  return at < 0 ? label : label.slice(0, at)
}
