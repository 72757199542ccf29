/* core/base/list */
#include "core/base/list.h"

#include "tests/lib/unit.h"

#include <string.h>

struct item {
	char name;
	struct list node;
};

static void
assert_names(const struct list *head, const char *names)
{
	char got[16] = "";
	size_t n = 0;

	for (const struct list *it = head->next; it != head; it = it->next) {
		assert_ptr_equal(it->next->prev, it);
		got[n++] = CONTAINER_OF((struct list *)(uintptr_t)it, struct item, node)->name;
	}
	assert_string_equal(got, names);
}

static void
test_order(void **state)
{
	struct list head;
	struct item a = { .name = 'a' }, b = { .name = 'b' }, c = { .name = 'c' };

	(void)state;
	list_init(&head);
	assert_true(list_empty(&head));
	list_append(&head, &b.node);
	list_append(&head, &c.node);
	list_prepend(&head, &a.node);
	assert_names(&head, "abc");
	assert_false(list_empty(&head));
	assert_ptr_equal(LIST_FIRST(&head, struct item, node), &a);
}

static void
test_remove_may_be_repeated(void **state)
{
	struct list head;
	struct item a = { .name = 'a' }, b = { .name = 'b' };

	(void)state;
	list_init(&head);
	list_append(&head, &a.node);
	list_append(&head, &b.node);
	list_remove(&a.node);
	list_remove(&a.node);
	assert_names(&head, "b");
	assert_true(list_empty(&a.node));
	list_append(&head, &a.node);
	assert_names(&head, "ba");
}

static void
test_removal_inside_the_loop(void **state)
{
	struct list head;
	struct item items[] = { { .name = 'a' }, { .name = 'b' }, { .name = 'c' },
		{ .name = 'd' } };

	(void)state;
	list_init(&head);
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		list_append(&head, &items[i].node);
	LIST_FOREACH (&head, it, tmp) {
		if (LIST_ENTRY(it, struct item, node)->name != 'c')
			list_remove(it);
	}
	assert_names(&head, "c");
}

int
main(void)
{
	UNIT_CASE(test_order);
	UNIT_CASE(test_remove_may_be_repeated);
	UNIT_CASE(test_removal_inside_the_loop);
	return unit_run("list");
}
