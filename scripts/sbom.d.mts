/** The package's parts, as CycloneDX JSON; needs the built pages. */
export function billOfMaterials(): string;
